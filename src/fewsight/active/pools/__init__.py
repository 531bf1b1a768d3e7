"""The examples that may be asked about: images, rows of numbers, or a Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.checks import owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices
from fewsight.active.pools.base import Pool
from fewsight.active.pools.grams import GramPool
from fewsight.active.pools.images import ImagePool
from fewsight.active.pools.vectors import VectorPool
from fewsight.channels import Channel
from fewsight.kernels import Kernel


def as_pool(owner: object, kernel: Any, examples: Any, exclude: Any = ()) -> Pool:
    """What the `kernel` parameter of a learner makes of examples; a pool stays what it is.

    Nothing is learned from the examples at the positions `exclude`.
    """
    if isinstance(examples, Pool):
        return examples
    if not hasattr(examples, "__len__") or isinstance(examples, (str, bytes, dict)):
        raise InvalidInput(
            f"{owner_name(owner)}: pool must be images, rows of numbers, Gram matrices or a Pool, got {shown(examples)}."
        )
    if isinstance(kernel, str) and kernel == "precomputed":
        return GramPool(examples)
    learn_from = _without(exclude, int(examples.shape[0]) if hasattr(examples, "shape") else len(examples))
    if kernel is None or isinstance(kernel, Kernel):
        return VectorPool(examples, kernel, learn_from)
    channels = [kernel] if isinstance(kernel, Channel) else kernel
    if isinstance(channels, (list, tuple)) and channels and all(isinstance(item, Channel) for item in channels):
        return ImagePool(examples, channels, learn_from)
    raise InvalidInput(
        f"{owner_name(owner)}: the learner's kernel must be a kernel object, a channel, a list of channels, 'precomputed' or "
        f"None, got {shown(kernel)}."
    )


def _without(exclude: Any, n: int) -> Indices | None:
    """The positions that are not excluded; None for all of them."""
    return np.setdiff1d(np.arange(n), np.asarray(exclude)) if len(exclude) else None


__all__ = ["GramPool", "ImagePool", "Pool", "VectorPool", "as_pool"]
