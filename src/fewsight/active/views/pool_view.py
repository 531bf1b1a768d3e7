"""The posterior of a Gaussian process at every example of a pool, kept up to date label by label.

With A = K + noise = L L^T for the n labelled examples, V = L^-1 K(labelled, pool) and Z = L^-1 targets, the means of
the pool are V^T Z and its variances the prior ones less the squared lengths of V's columns [Kapoor2010, eq. 5 and 6]. A
label at pool position i adds one row to each: with the pivot l = sqrt(variance_i + noise),

    v = (k(i, pool) - V_i^T V) / l,    z = (t - mean_i) / l,    mean += v z^T,    variance -= v^2,

in O(n m). L itself is not needed, as V_i is its new row. A class that is new had -1 as its target everywhere, so its
column is the negative of what targets of +1 give, which is carried along. Taking back the last label takes back its
row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from scipy.linalg import blas

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.base import Mask
from fewsight.active.views.fixed import pool_of
from fewsight.active.views.labelled import CalibratedView
from fewsight.gp import Posterior
from fewsight.learners.calibration import Calibration

FIRST_ROWS = 16
OUTSIDE = -1  # the position of a labelled example that is not in the pool


@final
@dataclass(frozen=True)
class Hyperparameters:
    """All that a posterior needs beside examples and labels.

    factors : (k,), weight over scale of each kernel of the pool.
    balanced : whether examples of frequent classes get more noise, as in `GPClassifier`.
    """

    factors: Array
    noise_variance: float
    balanced: bool = False


@dataclass
class _Row:
    """A labelled example."""

    position: int
    label: Any
    new_class: bool


@dataclass
class _Growing:
    """Rows of numbers that are appended and taken back; room is doubled when it runs out."""

    width: int
    store: Array = field(init=False)
    n: int = 0

    def __post_init__(self) -> None:
        self.store = np.empty((FIRST_ROWS, self.width))

    @property
    def rows(self) -> Array:
        return self.store[: self.n]

    def append(self, row: Array) -> None:
        if self.n == len(self.store):
            larger = np.empty((max(FIRST_ROWS, 2 * len(self.store)), self.width))
            larger[: self.n] = self.store
            self.store = larger
        self.store[self.n] = row
        self.n += 1

    def fill(self, rows: Array) -> None:
        self.store, self.n = rows, len(rows)


@final
class PoolView(CalibratedView):
    """Means and variances of a pool under a Gaussian process; `append` and `take_back` change it, rules only read it.

    Memory is that of V, n x m numbers (24 MB for 300 labels and a pool of 10,000), up to twice that while it grows.
    """

    def __init__(self, pool: Pool, settings: Hyperparameters, calibration: Calibration | None = None) -> None:
        self.pool, self.settings, self.calibration = pool, settings, calibration
        self.noise_variance = settings.noise_variance
        self.classes: list[Any] = []
        self._diagonal = pool.diagonal(settings.factors)
        self._rows: list[_Row] = []
        self._V, self._means = _Growing(len(pool)), _Growing(len(pool))  # (n, m) and, a row per class, (c, m)
        self._Z: list[Array] = []  # a row per label, as long as there were classes when it came
        self._variance = self._diagonal.copy()
        self._of_ones, self._Z_of_ones = np.zeros(len(pool)), list[float]()  # as a class whose targets are all +1
        self._unlabelled = np.ones(len(pool), dtype=bool)

    @classmethod
    def of(cls, learner: Any, examples: Any, pool_gram: Any = None) -> Self:
        """The pool as a fitted `GPClassifier` sees it; for "precomputed", `examples` (m, n) and `pool_gram` (m, m)."""
        pool, K_pool = pool_of(learner, examples, pool_gram)
        factors = learner.weights_ / learner.input_.scales
        settings = Hyperparameters(factors, learner.noise_variance_, bool(learner.balanced))
        view = cls(pool, settings, learner.calibration_ if learner.calibrated else None)
        posterior: Posterior = learner.posterior_
        A = posterior.covariance() + np.diag(posterior.noise_variance + posterior.jitters)
        view.classes = list(learner.classes_.tolist())
        labels = learner.labels_.tolist()
        view._rows = [_Row(OUTSIDE, label, False) for label in labels]
        view._condition(A, K_pool.T, np.array(posterior.targets))
        return view

    # What rules read.

    @property
    def mean(self) -> Array:
        return self._means.rows.T

    @property
    def variance(self) -> Array:
        return np.maximum(self._variance, 0.0)

    @property
    def n_labelled(self) -> int:
        return len(self._rows)

    @property
    def unlabelled(self) -> Mask:
        return self._unlabelled

    @property
    def diagonal(self) -> Array:
        return self._diagonal

    @property
    def positions(self) -> Indices:
        """Where the labelled examples stand in the pool, in the order of their labels; -1 for those outside."""
        return np.array([row.position for row in self._rows], dtype=np.intp)

    @property
    def labels(self) -> list[Any]:
        """The labels, in the order in which they came."""
        return [row.label for row in self._rows]

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self.settings.factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        V = self._V.rows
        return self.kernel(rows, columns) - V[:, rows].T @ V[:, columns]

    # What changes it.

    def append(self, position: int, label: Any) -> None:
        """Learn one label, in O(n m)."""
        new_class = label not in self.classes
        if new_class:
            self._add_class(label)
        targets = np.where([known == label for known in self.classes], 1.0, -1.0)
        pivot = self._pivot(position, self._noise_of(label))
        V = self._V.rows
        row = self.pool.rows(np.array([position]), self.settings.factors)[0]
        row -= V[:, position] @ V
        row /= pivot
        z, z_of_ones = (targets - self.mean[position]) / pivot, (1.0 - self._of_ones[position]) / pivot
        self._V.append(row)
        self._rows.append(_Row(position, label, new_class))
        self._Z.append(z)
        self._Z_of_ones.append(z_of_ones)
        self._move(row, z, z_of_ones, 1.0)
        self._unlabelled[position] = False

    def take_back(self) -> Any:
        """Forget the last label, also where it introduced a class; returns that label."""
        if not self._rows or self._rows[-1].position == OUTSIDE:
            raise InvalidInput("PoolView: no label of this pool is left to take back.")
        last, z = self._rows.pop(), self._Z.pop()[: len(self.classes)]
        self._move(self._V.rows[-1], z, self._Z_of_ones.pop(), -1.0)
        self._V.n -= 1
        if last.new_class:
            self._means.n -= 1
            self.classes.pop()
        self._unlabelled[last.position] = True
        return last.label

    def start(self, positions: Sequence[int], labels: Sequence[Any], classes: Sequence[Any]) -> None:
        """Learn all of these at once, in place of what was learned; `classes` gives the order of columns."""
        where = np.array(positions, dtype=np.intp)
        seen: set[Any] = set()
        self.classes, self._rows = list(classes), []
        for position, label in zip(where.tolist(), labels, strict=True):
            self._rows.append(_Row(position, label, label not in seen and self.classes.index(label) == len(seen)))
            seen.add(label)
        K = self.pool.rows(where, self.settings.factors)
        targets = np.where([[label == known for known in classes] for label in labels], 1.0, -1.0)
        targets = targets.reshape(len(where), len(self.classes))
        noise = self.noise_of_labelled()
        jitters = Posterior.condition(K[:, where], targets, noise).jitters if len(where) else noise
        self._condition(K[:, where] + np.diag(noise + jitters), K, targets)
        self._unlabelled[:] = True
        self._unlabelled[where] = False

    def noise_of_labelled(self) -> Array:
        """The noise variance of each labelled example (n,), as all labels together make it."""
        return np.array([self._noise_of(label, before=False) for label in self.labels])

    def _condition(self, A: Array, K: Array, targets: Array) -> None:
        """V, Z, means and variances from the covariance A (n, n) of the labelled examples and K (n, m) with the pool."""
        n = len(A)
        lower: Array = np.asarray(np.linalg.cholesky(A), dtype=np.float64) if n else np.zeros((0, 0))
        V, Z, of_ones = (_half_solved(lower, side) for side in (K, targets, np.ones((n, 1))))
        self._V.fill(V)
        self._means.fill(np.ascontiguousarray(Z.T @ V))
        self._Z, self._Z_of_ones = list(Z), of_ones[:, 0].tolist()
        self._of_ones = of_ones[:, 0] @ V
        self._variance = self._diagonal - np.einsum("ij,ij->j", V, V)

    def _add_class(self, label: Any) -> None:
        self.classes.append(label)
        self._means.append(-self._of_ones)

    def _move(self, row: Array, z: Array, z_of_ones: float, sign: float) -> None:
        """Add or take back what one row of V contributes."""
        self._means.rows[...] += np.multiply.outer(sign * z, row)
        self._of_ones += sign * z_of_ones * row
        self._variance -= sign * row**2

    def _pivot(self, position: int, noise: float) -> float:
        """The new diagonal entry of L; noise below what rounding leaves of a variance is raised to that."""
        least = max(1, self.n_labelled) * np.finfo(np.float64).eps * float(self._diagonal[position])
        return float(np.sqrt(max(self._variance[position], 0.0) + max(noise, least)))

    def _noise_of(self, label: Any, *, before: bool = True) -> float:
        """Of an example with this label, which is counted among those before it or is one of them."""
        if not self.settings.balanced:
            return self.noise_variance
        known = self.labels
        count, total = known.count(label) + before, len(known) + before
        return self.noise_variance * len(self.classes) * count / total


def _half_solved(lower: Array, B: Array) -> Array:
    """L^-1 B in C order, so that rows can be appended: solved from the right, as B^T L^-T."""
    if not B.size:
        return np.zeros(B.shape)
    solved: Array = blas.dtrsm(1.0, lower, np.ascontiguousarray(B).T, side=1, lower=1, trans_a=1)
    return np.ascontiguousarray(solved.T)
