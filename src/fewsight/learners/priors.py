"""How much each Gram matrix counts before anything is learned about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.channels import Channel, prior_shares
from fewsight.learners.gp_state import checked_weights


def starting_weights(learner: Any, k: int) -> Array:
    """The `prior_weights` of a learner, or what its channels suggest, or the same for each; they add up to 1."""
    if learner.prior_weights is not None:
        given = checked_weights(learner.prior_weights, k)
        return given / given.sum()
    channels = [learner.kernel] if isinstance(learner.kernel, Channel) else learner.kernel
    if isinstance(channels, (list, tuple)) and len(channels) == k and all(isinstance(c, Channel) for c in channels):
        return prior_shares(channels)
    return np.full(k, 1.0 / k)
