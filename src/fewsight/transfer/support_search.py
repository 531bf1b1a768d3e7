"""The best correlation of every support task, and the best support task. [Rodner2010, section 3.1]

Criteria that look at ranks are piecewise constant in rho: golden section alone would stop on any plateau. So rho is scanned
coarsely first and refined between the neighbours of the best; ties go to the larger leave-one-out predictive probability,
then to the smaller rho, then to the support task that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.gp import NOISE_LADDER, CorrelationPaths, paths_beside
from fewsight.transfer.averaging import Average, Averaging
from fewsight.transfer.criteria import CRITERIA, predictive_probability

SCAN = np.linspace(0.0, 1.0, 11)
WIDTH = 0.01  # of the interval around the best rho that golden section stops at
BLOCK_NUMBERS = 4_000_000  # of support tasks that are worked on together: 32 MB, a few times over
NOT_POSITIVE = (
    "TransferGPClassifier: the Gram matrix must be positive semi-definite, got one that is not even with noise."
)
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


class _Points(NamedTuple):
    """One point for each support task (J,): what it is judged by, most important first."""

    value: Array
    tie: Array
    rho: Array

    def beats(self, other: _Points) -> np.ndarray:
        """Where a point is better than another."""
        equal = self.value == other.value
        return (self.value > other.value) | (
            equal & ((self.tie > other.tie) | ((self.tie == other.tie) & (self.rho < other.rho)))
        )

    def where(self, chosen: np.ndarray, other: _Points) -> _Points:
        """These points where chosen, the others elsewhere."""
        return _Points(*(np.where(chosen, mine, theirs) for mine, theirs in zip(self, other, strict=True)))


@final
@dataclass(frozen=True, eq=False)
class Ranking:
    """What was found for each of J support tasks: its best rho, the criterion there, and what breaks ties."""

    rho: Array
    value: Array
    tie: Array

    def order(self, among: Indices | None = None) -> Indices:
        """Support tasks, best first."""
        tasks = np.arange(len(self.rho)) if among is None else among
        return tasks[np.lexsort((self.rho[tasks], -self.tie[tasks], -self.value[tasks]))]


def rank(paths: CorrelationPaths, criterion: str, rho: float | None = None) -> Ranking:
    """The best rho of every support task by a criterion, or what the criterion says of the one that is given."""
    best = _refined(paths, criterion) if rho is None else _at(paths, criterion, np.full(paths.n_tasks, rho))
    return Ranking(best.rho, best.value, best.tie)


def _refined(paths: CorrelationPaths, criterion: str) -> _Points:
    best = _scanned(paths, criterion)
    step = SCAN[1] - SCAN[0]
    low, high = np.maximum(best.rho - step, 0.0), np.minimum(best.rho + step, 1.0)
    left, right = (_at(paths, criterion, rho) for rho in _inside(low, high))
    while (high - low).max(initial=0.0) > WIDTH:
        best = _better(best, _better(left, right))
        leftwards = left.beats(right)
        low, high = np.where(leftwards, low, left.rho), np.where(leftwards, right.rho, high)
        inner = _inside(low, high)
        fresh = _at(paths, criterion, np.where(leftwards, inner[0], inner[1]))
        left, right = fresh.where(leftwards, right), left.where(leftwards, fresh)
    return _better(best, _better(left, right))


def _scanned(paths: CorrelationPaths, criterion: str) -> _Points:
    rhos = np.broadcast_to(SCAN, (paths.n_tasks, len(SCAN)))
    columns = zip(*(table.T for table in _judged(paths, criterion, rhos)), SCAN, strict=True)
    points = [_Points(value, tie, np.full(paths.n_tasks, rho)) for value, tie, rho in columns]
    best = points[0]
    for point in points[1:]:
        best = _better(best, point)
    return best


def _judged(paths: CorrelationPaths, criterion: str, rhos: Array) -> tuple[Array, Array]:
    left_out = paths.leave_one_out(rhos)
    return CRITERIA[criterion](paths, rhos, left_out), predictive_probability(paths, rhos, left_out)


def _at(paths: CorrelationPaths, criterion: str, rho: Array) -> _Points:
    value, tie = _judged(paths, criterion, rho[:, None])
    return _Points(value[:, 0], tie[:, 0], rho)


def _inside(low: Array, high: Array) -> tuple[Array, Array]:
    """The two points that golden section looks at."""
    return high - GOLDEN * (high - low), low + GOLDEN * (high - low)


def _better(one: _Points, other: _Points) -> _Points:
    return other.where(other.beats(one), one)


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """A target task and the support tasks to choose among, as rows of one Gram matrix."""

    K: Array
    target: Indices
    targets: Array  # (m,), +1 for the category, -1 for the background
    supports: Sequence[Indices]

    def rank(
        self, criterion: str, noise_variance: float | None = None, rho: float | None = None
    ) -> tuple[Ranking, float]:
        """The best rho of every support task, and the noise variance: those given, or the least that will do for all."""
        for noise in NOISE_LADDER if noise_variance is None else (noise_variance,):
            found = self._ranked(criterion, noise, rho)
            if found is not None:
                return found, noise
        raise InvalidInput(NOT_POSITIVE)

    def average(
        self, criterion: str, noise_variance: float | None = None, rho: float | None = None
    ) -> tuple[Average, float]:
        """The average over one or more support tasks, and over correlations or at the one that is given; with the noise."""
        for noise in NOISE_LADDER if noise_variance is None else (noise_variance,):
            found = self._averaged(criterion, noise, rho)
            if found is not None:
                return found, noise
        raise InvalidInput(NOT_POSITIVE)

    def _averaged(self, criterion: str, noise: float, rho: float | None) -> Average | None:
        averaging = Averaging(criterion, SCAN if rho is None else np.array([rho]))
        for block, paths in self._paths(noise):
            if paths is None:
                return None
            averaging.add(block, [len(self.supports[i]) for i in block], paths)
        return averaging.result()

    def _ranked(self, criterion: str, noise: float, rho: float | None) -> Ranking | None:
        found = Ranking(*(np.zeros(len(self.supports)) for _ in range(3)))
        for block, paths in self._paths(noise):
            if paths is None:
                return None
            part = rank(paths, criterion, rho)
            found.rho[block], found.value[block], found.tie[block] = part.rho, part.value, part.tie
        return found

    def _paths(self, noise: float) -> Iterator[tuple[Indices, CorrelationPaths | None]]:
        """Blocks of support tasks; None where a covariance is singular with this noise."""
        for block in self._blocks():
            yield block, paths_beside(self.K, self.target, self.targets, [self.supports[i] for i in block], noise)

    def _blocks(self) -> Iterator[Indices]:
        """Support tasks of about one size, as many at a time as fit into the memory set aside for them."""
        sizes = np.array([len(support) for support in self.supports], dtype=np.intp)
        order = np.argsort(sizes, kind="stable")
        while len(order):
            largest = int(np.searchsorted(sizes[order], 2 * max(1, sizes[order[0]]), side="right"))
            fitting = max(1, BLOCK_NUMBERS // max(1, len(self.target) * int(sizes[order[largest - 1]])))
            yield np.sort(order[: min(largest, fitting)])
            order = order[min(largest, fitting) :]
