"""How much each of several channels, or other Gram matrices, counts before anything is learned about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import is_number, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.channels.base import Channel

INFORMED_SHARE = 0.9  # with one image for each category of Caltech-101, 0.8 to 0.95 are alike, and 0.5 much worse


def prior_shares(channels: Sequence[Channel]) -> Array:
    """How much each channel counts before anything is learned about it: the informed ones most of it, together.

    They add up to 1, and are all the same where all or none of the channels are informed.
    """
    informed = np.array([channel.informed for channel in channels])
    n, k = int(informed.sum()), len(channels)
    if n in (0, k):
        return np.full(k, 1.0 / k)
    return np.where(informed, INFORMED_SHARE / n, (1.0 - INFORMED_SHARE) / (k - n))


def check_weights(owner: object, weights: npt.ArrayLike, count: int) -> Array:
    """One weight >= 0 for each of `count` kernels, not all zero."""
    given = np.asarray(weights, dtype=object)
    if given.shape != (count,) or not all(map(is_number, given.tolist())):
        raise InvalidInput(
            f"{owner_name(owner)}: weights must be {count} numbers, one for each kernel, got {shown(weights)}."
        )
    row = given.astype(np.float64)
    if not np.isfinite(row).all():
        raise InvalidInput(f"{owner_name(owner)}: weights must hold finite numbers only, got {row.tolist()}.")
    if (row < 0).any() or not row.any():
        raise InvalidInput(f"{owner_name(owner)}: weights must be >= 0 and not all zero, got {row.tolist()}.")
    return row
