"""What labels of a pool of histograms make of all its means and variances: exactly, or for very many by conjugate gradients.

With a free mean (see `fewsight.gp.iterative_variance`), u = A^-1 1 and h(x) = u^T k(x), the posterior covariance of x and of an
example j that gets a label is

    g(x) = q(x) + (1 - h(x)) (1 - h_j) / 1^T u,    q(x) = k(x, j) - k(x)^T A^-1 k_j,

and the label, with targets t, adds g (t - mean_j) / (variance_j + noise) to all means and takes g^2 / (variance_j + noise) from
all variances. So a label takes one column of the kernel and one product with those that are kept.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular

from fewsight._base.types import Array, Indices
from fewsight.active.pools.histograms import HistogramRows, KeptColumns
from fewsight.kernels import HistogramOperator
from fewsight.learners.histograms import FastVariance, HistogramPosterior
from fewsight.learners.histograms.posterior import Options

AT_A_TIME = 4_096  # examples of the pool whose variances are worked out together


@final
class ExactPosterior:
    """Of a pool with few enough labels that their columns of the kernel are kept; in units of the kernel."""

    def __init__(self, columns: KeptColumns, factor: float, noise: float, diagonal: Array) -> None:
        self._columns, self._factor, self._noise, self._diagonal = columns, factor, noise, diagonal

    def condition(self, where: Indices, targets: Array) -> None:
        """On the labels of the examples at `where`, one or more."""
        K = self._columns.first(where)
        A = self._factor * K[:, where].astype(np.float64)
        self._where, self._K = where, K
        self._lower = np.linalg.cholesky(0.5 * (A + A.T) + self._noise * np.eye(len(where)))
        self._ones = self.solve(np.ones(len(where)))
        self._total = float(self._ones.sum())
        means = self._ones @ targets / self._total
        sides = np.column_stack([self.solve(targets - means), self._ones])
        parts = [self._of_some(slice(start, start + AT_A_TIME), sides) for start in range(0, K.shape[1], AT_A_TIME)]
        inner, explained = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        self.mean, self._inner = inner[:, :-1] + means, inner[:, -1]
        self.variance = self._diagonal - explained + (1.0 - self._inner) ** 2 / self._total

    def follow(self, position: int, targets: Array) -> None:
        """Learn the label of one more example, of a class that may be new: the mean of such a one was -1 everywhere."""
        new = np.full((len(self.mean), len(targets) - self.mean.shape[1]), -1.0)
        self.mean = np.hstack([self.mean, new]) if new.size else self.mean
        n, where = len(self._where), np.append(self._where, position)
        K = self._columns.first(where, n)
        self._K, column = K[:n], K[n]
        k = self._factor * column[self._where].astype(np.float64)
        dual = self.solve(k)
        q = self._factor * (column - dual.astype(np.float32) @ self._K)
        g = q + (1.0 - self._inner) * ((1.0 - self._inner[position]) / self._total)
        pivot = max(float(self.variance[position]), 0.0) + self._noise
        self.mean = self.mean + np.multiply.outer(g / pivot, targets - self.mean[position])
        self.variance = self.variance - g**2 / pivot
        self._grow(position, column, k, dual, q)
        self._K, self._where = K, where

    def covariance(self, K: Array, left: Array, right: Array, rows: Indices, columns: Indices) -> Array:
        """Of examples at these places, from their kernel values K with each other and with the labelled ones."""
        of_mean = np.multiply.outer(1.0 - self._inner[rows], 1.0 - self._inner[columns]) / self._total
        return K - left.T @ self.solve(right) + of_mean

    def solve(self, B: Array) -> Array:
        """A^-1 B."""
        return np.asarray(cho_solve((self._lower, True), B), dtype=np.float64)

    def _of_some(self, some: slice, sides: Array) -> tuple[Array, Array]:
        """Inner products of some of the pool with the right-hand sides, and how much of their variance is explained."""
        K = self._factor * self._K[:, some].astype(np.float64)
        half = solve_triangular(self._lower, K, lower=True)
        return K.T @ sides, np.einsum("ij,ij->j", half, half)

    def _grow(self, position: int, column: npt.NDArray[np.float32], k: Array, dual: Array, q: Array) -> None:
        """A with one more row, and what goes with it."""
        own = self._factor * float(column[position]) + self._noise
        half = solve_triangular(self._lower, k, lower=True)
        pivot = max(own - float(k @ dual), 1e-12 * own)
        corner = np.sqrt(max(own - float(half @ half), 1e-12 * own))
        n = len(self._lower)
        lower = np.zeros((n + 1, n + 1))
        lower[:n, :n], lower[n, :n], lower[n, n] = self._lower, half, corner
        share = (1.0 - self._inner[position]) / pivot
        self._total += share * (1.0 - float(self._inner[position]))
        self._ones = np.append(self._ones - share * dual, share)
        self._inner = self._inner + share * q
        self._lower = lower


@final
class IteratedPosterior:
    """Of a pool with very many labels: means by conjugate gradients, variances by the learner's fast estimate."""

    def __init__(self, rows: HistogramRows, operator: HistogramOperator, factor: float, noise: float) -> None:
        self._rows, self._noise = rows, noise
        self._kernel = operator.with_weights(factor * operator.weights)

    def condition(self, where: Indices, targets: Array) -> None:
        """On the labels of the examples at `where`."""
        classes = targets.argmax(axis=1).astype(np.intp)
        operator = self._operator_of(self._rows.rows[where])
        noise = np.full((len(where), 1), self._noise)
        posterior = HistogramPosterior.condition(
            operator, classes, targets.shape[1], noise, Options(1e-3, 1_000, None, "auto")
        )
        self.mean = posterior.mean(self._rows.rows)
        self.variance = FastVariance.fit(posterior).of(self._rows.rows)

    def _operator_of(self, rows: Any) -> HistogramOperator:
        transform = self._kernel.transform
        plain = HistogramOperator.from_rows(rows, weights=self._kernel.weights)
        return plain.with_transform(transform.kind, getattr(transform, "parameter", None))
