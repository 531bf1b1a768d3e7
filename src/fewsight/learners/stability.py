"""How sure to be with one or two labels of each class, told by examples without a label.

One example of each class does not say how alike the examples of a class are. Examples without a label do: put the nearest of them
in the place of each labelled example, or the second or third nearest, and ask how often two of the classifiers that come of this
decide alike. Where a class is a tight cluster they nearly always do; where classes blend, each decides by chance. On sets of
many domains that share is close to the accuracy, without anything fitted to it (`docs/domains.md`). So the sharpness of a
calibration is moved towards the one at which the mean confidence on these examples is that share.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior
from fewsight.learners.calibration import Calibration
from fewsight.learners.labels import NO_CLASS, class_numbers

RANKS = 3  # the nearest of each labelled example takes its place, then the second and the third nearest
OF_EACH_RANK = 4  # examples for each class and rank: of fewer, the third nearest is often of another class
MOST_LABELS = 3.0  # of each class: from here on left-out examples know better
LEAST, LEAST_OF_EACH = 10, 6  # examples without a label, in all and for each class, that can tell anything
# That are looked at, for each class and in all: among many, the nearest would change less than a decision by other labels.
MOST_OF_EACH, MOST = 15, 600
WORTH = 1.5  # of them for each class count as much as what was expected before
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
    """How often two classifiers decide alike, that of the labelled examples and those that have others in their places.

    The mean over pairs of classifiers and examples without a label that stand in no place of the two; one decision more is taken
    for alike, and one for different.
    """
    ranks = max(1, min(RANKS, len(among) // (OF_EACH_RANK * posterior.n_targets)))
    lengths = np.sqrt(np.maximum(np.outer(among.diagonal(), posterior.prior_variance), 1e-300))
    nearest = np.argsort(-with_labelled / lengths, axis=0, kind="stable")
    said = [posterior.mean(with_labelled).argmax(axis=1)]
    free = [np.ones(len(among), dtype=bool)]
    for places in nearest[:ranks]:
        exchanged = Posterior.condition(among[np.ix_(places, places)], posterior.targets, posterior.noise_variance)
        said.append(exchanged.mean(among[:, places]).argmax(axis=1))
        free.append(~np.isin(np.arange(len(among)), places))
    alike, looked_at = 0, 0
    for first, second in itertools.combinations(range(len(said)), 2):
        both = free[first] & free[second]
        alike, looked_at = alike + int((said[first] == said[second])[both].sum()), looked_at + int(both.sum())
    return (alike + 1) / (looked_at + 2)
