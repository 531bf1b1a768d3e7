"""Which labels look wrong: each is compared with what all others say, in closed form.

A label is surprising where the others make it improbable. Two things make right labels surprising as well, and are taken
off. Rare categories are improbable everywhere, but what was asked about says nothing about how frequent they are: the
probabilities are those of categories that are equally frequent. With targets t of mean b, the latent means are those of
t - b, which are the means of t less b times those of a column of ones. And some categories are hard, so that all of their
labels are surprising: half of the average surprise at the other labels of its category is what is usual for a label.
"""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior
from fewsight.learners.calibration import fit_calibration
from fewsight.learners.labels import NO_CLASS, class_numbers

LEAST_PROBABILITY = 1e-300
USUAL = 0.5  # of the average surprise at the others of its category


def surprises_at(posterior: Posterior) -> Array:
    """The surprise, in nats, at each label when it is predicted from all others, less what is usual (n,).

    Targets are largest in the column of a label. The only example of its class cannot be predicted by others; nothing is known
    against it, and it is the least surprising; the same holds for an example that belongs to none.
    """
    numbers = class_numbers(posterior.targets)
    classes = np.where(numbers == NO_CLASS, posterior.n_targets, numbers)
    counts = np.bincount(classes)[classes]
    known = np.flatnonzero((counts > 1) & (numbers != NO_CLASS))
    if not len(known):
        return np.zeros(len(classes))
    found = _plain_surprises(posterior, classes, known)
    totals = np.bincount(classes[known], weights=found, minlength=posterior.n_targets + 1)[classes[known]]
    found -= USUAL * (totals - found) / (counts[known] - 1)
    every = np.full(len(classes), min(0.0, float(found.min())))
    every[known] = found
    return every


def _plain_surprises(posterior: Posterior, classes: Indices, known: Indices) -> Array:
    """Minus the logarithm of the probability of each label, if all classes were equally frequent; calibrated on the same."""
    mean = even_leave_one_out(posterior)[known]
    stated = fit_calibration(mean, classes[known]).probabilities(mean)[np.arange(len(known)), classes[known]]
    found: Array = -np.log(np.maximum(stated, LEAST_PROBABILITY))
    return found


def even_leave_one_out(posterior: Posterior) -> Array:
    """Leave-one-out means (n, c) of the targets less their means."""
    larger = posterior.add_targets(np.ones((posterior.n, 1))).leave_one_out().mean
    return larger[:, :-1] - posterior.targets.mean(axis=0) * larger[:, -1:]
