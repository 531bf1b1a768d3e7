"""SimpleMKL, one class against the rest: a support vector machine that learns the weights of its kernels. [Rakotomamonjy2008]

    J(d) = max_a  sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j sum_m d_m K_m(i, j),   0 <= a_i <= C,  sum_i a_i y_i = 0

is minimised over d >= 0 with sum(d) = 1. At the best a, found by LIBSVM, dJ/dd_m = -1/2 a^T Y K_m Y a =: g_m. The largest weight
makes room for the others (the reduced gradient); a step that sets a weight to zero is followed as long as J falls, then a line
search with Armijo's rule ends it. J is convex, and J(d) minus the dual objective at the same a is sum_m d_m g_m - min_m g_m: the
search stops when this gap is at most `gap` of J.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

Array = npt.NDArray[np.float64]

SMALLEST_WEIGHT = 1e-8  # below it a weight is zero
SUFFICIENT = 1e-4  # of the fall that the slope promises, by Armijo's rule
SHRINKING = (0.1, 0.5)  # what a step may become at the next trial, of what it was
MAX_TRIALS = 20  # of a line search


@dataclass(frozen=True)
class Machine:
    """The support vector machine at some weights, with what SimpleMKL needs to know of it."""

    weights: Array  # (k,)
    support: npt.NDArray[np.intp]
    dual: Array  # a_i y_i of the support
    intercept: float
    objective: float  # J
    gradient: Array  # (k,), of J for the weights

    @property
    def gap(self) -> float:
        """Duality gap relative to J: 0 at the best weights."""
        return float(self.weights @ self.gradient - self.gradient.min()) / max(self.objective, np.finfo(float).tiny)

    def decide(self, blocks: Sequence[Array]) -> Array:
        """Margins of test examples from test x training blocks."""
        chosen = zip(self.weights, blocks, strict=True)
        K = sum(weight * block[:, self.support] for weight, block in chosen if weight)
        return np.asarray(K @ self.dual + self.intercept)


@dataclass(frozen=True)
class Search:
    """One class against the rest: what J depends on."""

    grams: Sequence[Array]
    signs: npt.NDArray[np.intp]  # +1 / -1
    C: float
    tol: float  # of LIBSVM

    def at(self, weights: Array) -> Machine:
        """Train the machine at these weights."""
        K = sum(weight * gram for weight, gram in zip(weights, self.grams, strict=True) if weight)
        svm = SVC(C=self.C, kernel="precomputed", tol=self.tol).fit(K, self.signs)
        support, dual = svm.support_, svm.dual_coef_[0]
        among = np.ix_(support, support)
        squares = np.array([dual @ gram[among] @ dual for gram in self.grams])
        objective = float(np.abs(dual).sum() - weights @ squares / 2)
        return Machine(weights, support, dual, float(svm.intercept_[0]), objective, -squares / 2)


@dataclass(frozen=True)
class Learned:
    """The machine at the weights that were found, and how."""

    machine: Machine
    objectives: tuple[float, ...]  # after each step, the start first
    n_machines: int  # trained on the way
    converged: bool  # whether the gap is as small as was asked for


def learn(search: Search, *, gap: float = 0.01, max_steps: int = 100) -> Learned:
    """Reduced gradient descent from equal weights."""
    k = len(search.grams)
    machine = search.at(np.full(k, 1 / k))
    objectives, n_machines = [machine.objective], 1
    while machine.gap > gap and len(objectives) <= max_steps:
        found, trained = _step(search, machine)
        n_machines += trained
        if found.objective >= machine.objective:
            break  # LIBSVM is not exact enough to see J fall any further
        machine = found
        objectives.append(machine.objective)
    return Learned(machine, tuple(objectives), n_machines, machine.gap <= gap)


def _step(search: Search, start: Machine) -> tuple[Machine, int]:
    """From corner to corner along the direction of descent as long as J falls, then a line search; machines trained."""
    direction, largest = descent(start.weights, start.gradient), int(start.weights.argmax())
    machine, trained = start, 0
    while (direction < 0).any():
        step, leaving = _longest_step(machine.weights, direction)
        corner = search.at(_on_simplex(machine.weights + step * direction, leaving))
        trained += 1
        if corner.objective >= machine.objective:
            found, more = _line_search(search, machine, direction, step, corner)
            return found, trained + more
        machine = corner
        if leaving == largest:
            break  # what made room for the others is gone: another direction is needed
        direction[[leaving, largest]] = 0.0
        direction[largest] = -direction.sum()
    return machine, trained


def descent(weights: Array, gradient: Array) -> Array:
    """The reduced gradient downhill: sums to zero, and takes nothing from a weight that is zero."""
    largest = int(weights.argmax())
    direction = gradient[largest] - gradient
    direction[(weights <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def _longest_step(weights: Array, direction: Array) -> tuple[float, int]:
    """How far until a weight becomes zero, and which."""
    falling = np.flatnonzero(direction < 0)
    steps = -weights[falling] / direction[falling]
    return float(steps.min()), int(falling[steps.argmin()])


def _line_search(search: Search, start: Machine, direction: Array, step: float, far: Machine) -> tuple[Machine, int]:
    """Shorter steps, each to the lowest point of a parabola, until J falls enough."""
    slope = float(start.gradient @ direction)
    for trial in range(1, MAX_TRIALS + 1):
        excess = far.objective - start.objective - slope * step
        best = -slope * step / (2 * excess) if excess > 0 else 0.0
        step *= float(np.clip(best, *SHRINKING))
        far = search.at(_on_simplex(start.weights + step * direction))
        if far.objective <= start.objective + SUFFICIENT * slope * step:
            return far, trial
    return start, MAX_TRIALS


def _on_simplex(weights: Array, leaving: int | None = None) -> Array:
    """Without what rounding leaves of zero."""
    weights = np.where(weights < SMALLEST_WEIGHT, 0.0, weights)
    if leaving is not None:
        weights[leaving] = 0.0
    return weights / weights.sum()


class SimpleMKL(BaseEstimator):
    """One-vs-rest SimpleMKL on a list of Gram matrices; the largest margin decides.

    Parameters
    ----------
    C : penalty of a training error, for Gram matrices scaled to a training diagonal of mean 1.
    gap : relative duality gap at which the search for weights stops.
    tol : of LIBSVM.
    max_steps : of the search for each class.
    """

    def __init__(self, *, C: float = 10_000.0, gap: float = 0.01, tol: float = 1e-3, max_steps: int = 100) -> None:
        self.C = C
        self.gap = gap
        self.tol = tol
        self.max_steps = max_steps

    def fit(self, grams: Sequence[Array], labels: Any, *, classes: Sequence[Any] | None = None) -> Self:
        """Learn each of the classes (all unless some are named) against the rest."""
        labels = np.asarray(labels)
        self.scales_ = np.array([float(np.mean(np.diag(gram))) for gram in grams])
        scaled = [np.asarray(gram, dtype=np.float64) / scale for gram, scale in zip(grams, self.scales_, strict=True)]
        self.classes_ = np.unique(labels) if classes is None else np.asarray(classes)
        searches = [
            Search(scaled, np.where(labels == label, 1, -1).astype(np.intp), self.C, self.tol)
            for label in self.classes_
        ]
        self.learned_ = [learn(search, gap=self.gap, max_steps=self.max_steps) for search in searches]
        return self

    @property
    def weights_(self) -> Array:
        """(n_classes, n_kernels)."""
        return np.stack([one.machine.weights for one in self.learned_])

    @property
    def n_machines_(self) -> int:
        """Support vector machines trained."""
        return sum(one.n_machines for one in self.learned_)

    @property
    def n_converged_(self) -> int:
        """Classes whose duality gap is as small as was asked for."""
        return sum(one.converged for one in self.learned_)

    def predict(self, blocks: Sequence[Array]) -> npt.NDArray[Any]:
        """The class of each test example, from test x training blocks."""
        scaled = [
            np.asarray(block, dtype=np.float64) / scale for block, scale in zip(blocks, self.scales_, strict=True)
        ]
        margins = np.stack([one.machine.decide(scaled) for one in self.learned_], axis=1)
        return self.classes_[margins.argmax(axis=1)]
