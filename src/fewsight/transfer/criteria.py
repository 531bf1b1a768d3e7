"""What says how well a support task and a correlation suit the target: larger is better. [Rodner2010, sections 3.1 and 5.2]

All look at the examples of the target task (its positives and the background) and never at those of the support task, each
predicted from all other examples of both tasks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from fewsight._base.types import Array
from fewsight.gp import CorrelationPaths, LeftOut
from fewsight.metrics import average_precisions, roc_areas

Criterion = Callable[[CorrelationPaths, Array, LeftOut], Array]  # with rhos (J, G) and what is left out at them; (J, G)
SLOPE = 10.0  # of the squashing function [Tommasi2009]
LEAST_SPREAD = (
    0.01  # of left-out means of the background, whose targets are -1: what differs less is not told apart better
)
DECIMALS = 12  # ranks are compared, not what rounding makes of their mean


def average_precision(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """Of the ranking by leave-one-out means; with one positive, 1 / its rank."""
    return _ranked(average_precisions, paths, left_out)


def roc_area(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """The share of pairs of a positive and a background example that leave-one-out means put in the right order."""
    return _ranked(roc_areas, paths, left_out)


def predictive_probability(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """Mean log density of the leave-one-out prediction at the label. [Rodner2010, eq. 5]"""
    apart = paths.targets[..., None] - left_out.mean
    densities = -0.5 * (np.log(2 * np.pi * left_out.variance) + apart**2 / left_out.variance)
    return densities.mean(axis=-2)


def squashed_probability(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """Leave-one-out means on the right side of zero, squashed to 0 .. 1; positives and background count the same in all."""
    targets = paths.targets[..., None]
    right = expit(SLOPE * targets * left_out.mean)
    shares = [(right * side).sum(axis=-2) / np.maximum(side.sum(axis=-2), 1.0) for side in (targets > 0, targets < 0)]
    return np.mean(shares, axis=0)


def conditional_likelihood(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """log p(labels of the target | labels of the support task)."""
    return paths.conditional_log_likelihood(rhos)


def separation(paths: CorrelationPaths, rhos: Array, left_out: LeftOut) -> Array:
    """By how many standard deviations of the background's leave-one-out means those of the positives lie above their mean.

    With fewer than two background examples nothing can be told apart, and all are worth the same.
    """
    positive = paths.targets[0] > 0
    if positive.all() or not positive.any() or int((~positive).sum()) < 2:
        return np.zeros(rhos.shape)
    background = left_out.mean[:, ~positive]
    apart = left_out.mean[:, positive].mean(axis=1) - background.mean(axis=1)
    return np.asarray(apart / np.maximum(background.std(axis=1), LEAST_SPREAD))


CRITERIA: dict[str, Criterion] = {
    "separation": separation,
    "average_precision": average_precision,
    "roc_area": roc_area,
    "predictive_probability": predictive_probability,
    "squashed_probability": squashed_probability,
    "conditional_likelihood": conditional_likelihood,
}


def _ranked(measure: Callable[..., Array], paths: CorrelationPaths, left_out: LeftOut) -> Array:
    return np.round(measure(paths.targets[0] > 0, left_out.mean), DECIMALS)
