"""The parameter of a transform by how well training examples are predicted that were left out.

Evidence and its bound like the kernel best that explains the targets -1 and +1 as a Gaussian process would. That is not the one
that tells categories apart best: on bags of words the log loss of left-out examples finds a kernel that is right more often, see
docs/large_scale.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar

from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.gp import SolverOptions, left_out_means
from fewsight.kernels import HistogramOperator
from fewsight.learners.calibration import fit_calibration

FOLDS = 3  # a third is left out at a time: few trainings, and examples enough
REFINED = 5  # parameters that are tried between the best of a grid and its neighbours
SOLVED = SolverOptions(1e-2, 200, None)  # the choice does not change with more exact systems

Losses = Callable[[float], Array]  # of each left-out example, at a parameter


def left_out_losses(
    operator: HistogramOperator, classes: Indices, n_classes: int, noise: Array, folds: list[Indices]
) -> Array:
    """Minus the logarithm of the calibrated probability of the class of each left-out example."""
    means = np.concatenate([left_out_means(operator, classes, n_classes, noise, fold, SOLVED) for fold in folds])
    truth = classes[np.concatenate(folds)]
    calibration = fit_calibration(means, truth, np.bincount(classes, minlength=n_classes) / len(classes))
    stated = calibration.probabilities(means)[np.arange(len(truth)), truth]
    return -np.log(np.maximum(stated, 1e-300))


def least_loss(losses: Losses, grid: Array, plain: float) -> float:
    """The parameter with the least mean loss; the plain kernel stays unless the gain is above its standard error."""
    known = cache(losses)
    best = least(lambda parameter: float(known(parameter).mean()), grid)
    gain = known(plain) - known(best)
    return best if gain.mean() > gain.std() / np.sqrt(len(gain)) else plain


def least(cost: Callable[[float], float], grid: Array) -> float:
    """The parameter that costs least: the best of a grid, refined between its neighbours."""
    costs = [cost(float(parameter)) for parameter in track(grid, "transform", len(grid))]
    at = int(np.argmin(costs))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    options = {"xatol": 0.02 * (around[1] - around[0]), "maxiter": REFINED}
    refined = minimize_scalar(lambda place: cost(float(place)), bounds=around, method="bounded", options=options)
    return float(refined.x) if refined.fun < costs[at] else float(grid[at])
