"""An average over all support tasks and correlations, in place of the best of them.

Among a hundred support tasks and a dozen correlations the best by a handful of left-out examples is the luckiest, not the best.
The average of all posterior means, each weighted by what left-out examples say of it, has no winner to be wrong about; a
correlation of zero, that is learning alone, is part of it like any other. As every posterior mean is a weighted sum of kernel
values, their average is one too, and predicting costs what it did before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import logsumexp

from fewsight._base.types import Array, Indices
from fewsight.gp import CorrelationPaths, LeftOut
from fewsight.transfer.criteria import CRITERIA

SHARPNESS = 2.0  # of the weights in the separation times the root of the number of positives; see docs/transfer.md
_Scale = Callable[[int, int], float]  # of the numbers of positives and of all examples of the target

# What a criterion is multiplied by to be the logarithm of a weight.
LOG_WEIGHTS: dict[str, _Scale] = {
    "separation": lambda n_positives, n: SHARPNESS * float(np.sqrt(n_positives)),
    "predictive_probability": lambda n_positives, n: float(n),
    "conditional_likelihood": lambda n_positives, n: 1.0,
}


@final
@dataclass(frozen=True, eq=False)
class Average:
    """What J support tasks of s_j examples lend together to a target of m examples.

    `shares` (J,) are their parts of the whole weight, `alone` that of a correlation of zero; all add up to 1. `rho` (J,) is the
    mean correlation of each support task where it is not zero; `best_rho` (J,) that with the largest `value` (J,) by the
    criterion. `left_out` is each of the target's examples predicted from all
    others (m,): mean and variance of the mixture.
    """

    own: Array  # (m,), what kernel values with the target's examples are multiplied by
    lent: Sequence[Array]  # (s_j,) for each support task
    shares: Array
    alone: float
    rho: Array
    best_rho: Array
    value: Array
    left_out: LeftOut


@final
@dataclass(frozen=True, eq=False)
class _Part:
    """Sums over the support tasks of one block, each term divided by exp(largest)."""

    tasks: Indices
    largest: float
    values: Array  # (J, G), of the criterion
    weights: Array  # (J, G)
    own: Array
    lent: list[Array]
    mean: Array
    second_moment: Array

    @classmethod
    def of(cls, tasks: Indices, sizes: Sequence[int], paths: CorrelationPaths, criterion: str, grid: Array) -> _Part:
        rhos = np.broadcast_to(grid, (paths.n_tasks, len(grid)))
        n_positives, n = int((paths.targets[0] > 0).sum()), paths.targets.shape[1]
        left_out = paths.leave_one_out(rhos)
        values = CRITERIA[criterion](paths, rhos, left_out)
        log_weights = LOG_WEIGHTS[criterion](n_positives, n) * values
        largest = float(log_weights.max())
        weights = np.exp(log_weights - largest)
        own, lent = paths.weights(rhos)
        lent = (lent @ weights[:, :, None])[:, :, 0]
        return cls(
            tasks,
            largest,
            values,
            weights,
            _summed(own, weights),
            [row[:size] for row, size in zip(lent, sizes, strict=True)],
            _summed(left_out.mean, weights),
            _summed(left_out.variance + left_out.mean**2, weights),
        )


def _summed(values: Array, weights: Array) -> Array:
    """Over support tasks and correlations: (J, m, G) and (J, G) give (m,)."""
    return np.asarray((values @ weights[:, :, None])[:, :, 0].sum(axis=0))


@final
class Averaging:
    """Adds up support tasks, block by block."""

    def __init__(self, criterion: str, rhos: Array) -> None:
        self.criterion = criterion
        self.rhos = rhos
        self._parts: list[_Part] = []

    def add(self, tasks: Indices, sizes: Sequence[int], paths: CorrelationPaths) -> None:
        """Support tasks by their numbers, with their numbers of examples."""
        self._parts.append(_Part.of(tasks, sizes, paths, self.criterion, self.rhos))

    def result(self) -> Average:
        """The average of all that was added."""
        whole = logsumexp([part.largest + np.log(part.weights.sum()) for part in self._parts])
        factors = [float(np.exp(part.largest - whole)) for part in self._parts]
        n_tasks = sum(len(part.tasks) for part in self._parts)
        shares, rho, best_rho, value = (np.zeros(n_tasks) for _ in range(4))
        lent, alone = [np.empty(0)] * n_tasks, 0.0
        own, mean, second_moment = (
            np.sum([factor * getattr(part, name) for part, factor in zip(self._parts, factors, strict=True)], axis=0)
            for name in ("own", "mean", "second_moment")
        )
        lends = self.rhos > 0
        for part, factor in zip(self._parts, factors, strict=True):
            weights = factor * part.weights
            alone += float(weights[:, ~lends].sum())
            shares[part.tasks] = weights[:, lends].sum(axis=1)
            rho[part.tasks] = weights @ self.rhos / np.maximum(shares[part.tasks], np.finfo(float).tiny)
            best_rho[part.tasks], value[part.tasks] = self.rhos[part.values.argmax(axis=1)], part.values.max(axis=1)
            for task, row in zip(part.tasks, part.lent, strict=True):
                lent[task] = factor * row
        variance = np.maximum(second_moment - mean**2, 0.0)
        rho = np.minimum(rho, 1.0)
        return Average(own, lent, shares, alone, rho, best_rho, value, LeftOut(mean, variance))
