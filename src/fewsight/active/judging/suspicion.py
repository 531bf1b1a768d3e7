"""Which labels look wrong: each is compared with what all others say, in closed form."""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import Calibration

LEAST_PROBABILITY = 1e-300


def surprises(model: GPClassifier) -> Array:
    """The surprise, in nats, at each training label when it is predicted from all others (n,).

    The only example of its class cannot be predicted by others; nothing is known against it, and its surprise is 0.
    """
    return surprises_at(model.leave_one_out().mean, model.posterior_.targets.argmax(axis=1), model.calibration_)


def surprises_at(left_out: Array, classes: Indices, calibration: Calibration) -> Array:
    """The same from the latent means (n, c) of all examples when they are left out, and their classes (n,)."""
    stated = calibration.probabilities(left_out)[np.arange(len(classes)), classes]
    alone = np.bincount(classes)[classes] == 1
    return np.where(alone, 0.0, -np.log(np.maximum(stated, LEAST_PROBABILITY)))
