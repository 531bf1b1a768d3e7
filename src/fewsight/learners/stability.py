"""How sure to be with one or two labels of each class, told by examples without a label.

One example of each class does not say how alike the examples of a class are. Examples without a label do: put the nearest of them
in the place of each labelled example, and ask how many decisions on the others stay what they were. Where a class is a tight
cluster, nearly all do; where classes blend, as many change as a labelled example decides by chance. On sets of many domains that
share is close to the accuracy, without anything fitted to it (`docs/domains.md`). So the sharpness of a calibration is moved
towards the one at which the mean confidence on these examples is that share.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior
from fewsight.learners.calibration import Calibration
from fewsight.learners.labels import NO_CLASS, class_numbers

RANKS = 2  # the nearest of each labelled example takes its place, then the second nearest
MOST_LABELS = 3.0  # of each class: from here on left-out examples know better
LEAST, LEAST_OF_EACH = 10, 2  # examples without a label, in all and for each class, that can tell anything
MOST_OF_EACH, MOST = (
    15,
    600,
)  # that are looked at: among many, the nearest would change less than a decision by other labels
WORTH = 4.0  # of them for each class count as much as what was expected before
LARGEST_STEP = 2.0  # of the logarithm


def few_labels(n_labelled: int, n_classes: int) -> bool:
    """Whether examples without a label can say more than so few labels do."""
    return n_classes > 1 and n_labelled < MOST_LABELS * n_classes


def can_tell(n_labelled: int, n_unlabelled: int, n_classes: int) -> bool:
    """Whether labels are few and this many examples without a label enough."""
    return few_labels(n_labelled, n_classes) and n_unlabelled >= max(LEAST, LEAST_OF_EACH * n_classes)


def some_unlabelled(positions: Indices, n_classes: int) -> Indices:
    """At most MOST of these positions, and MOST_OF_EACH for each class, in their order; always the same."""
    most = min(MOST, MOST_OF_EACH * n_classes)
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(0).permutation(positions)[:most])


def sharpened(calibration: Calibration, posterior: Posterior, with_labelled: Array, among: Array) -> Calibration:
    """The calibration as m examples without a label let it be seen.

    Parameters
    ----------
    calibration : what the labels say.
    posterior : of the n labelled examples and c classes.
    with_labelled : kernel values (m, n) of the examples without a label with those that have one.
    among : of the former with each other (m, m).
    """
    mean = posterior.mean(with_labelled)
    known = class_numbers(posterior.targets) != NO_CLASS
    labels, m, c = known.sum() / mean.shape[1], len(mean), mean.shape[1]
    share = (MOST_LABELS - labels) / (MOST_LABELS - 1.0) * m / (m + WORTH * c)
    wanted = agreement(posterior, with_labelled, among)

    def excess(step: float) -> float:
        moved = replace(calibration, sharpness=calibration.sharpness + step)
        return float(moved.probabilities(mean).max(axis=1).mean()) - wanted

    if excess(-LARGEST_STEP) >= 0:
        step = -LARGEST_STEP
    elif excess(LARGEST_STEP) <= 0:
        step = LARGEST_STEP
    else:
        step = float(brentq(excess, -LARGEST_STEP, LARGEST_STEP, xtol=1e-6))
    return replace(calibration, sharpness=calibration.sharpness + float(np.clip(share, 0.0, 1.0)) * step)


def agreement(posterior: Posterior, with_labelled: Array, among: Array) -> float:
    """The share of decisions on examples without a label that stay when such examples take the place of the labelled ones.

    See `sharpened`; one decision more is taken for one that stays, and one for one that does not.
    """
    decided = posterior.mean(with_labelled).argmax(axis=1)
    lengths = np.sqrt(np.maximum(np.outer(among.diagonal(), posterior.prior_variance), 1e-300))
    nearest = np.argsort(-with_labelled / lengths, axis=0, kind="stable")
    stays, looked_at = 0, 0
    for places in nearest[:RANKS]:
        exchanged = Posterior.condition(among[np.ix_(places, places)], posterior.targets, posterior.noise_variance)
        others = np.setdiff1d(np.arange(len(among)), places)
        again = exchanged.mean(among[np.ix_(others, places)]).argmax(axis=1)
        stays, looked_at = stays + int((again == decided[others]).sum()), looked_at + len(others)
    return (stays + 1) / (looked_at + 2)
