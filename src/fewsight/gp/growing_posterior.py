"""Posteriors at every point of a pool, kept up to date label by label.

**Zero mean** (`GrowingPosterior`). With A = K + noise = L L^T for the n labelled points, V = L^-1 K(labelled, pool) and
Z = L^-1 targets, the means of the pool are V^T Z and its variances the prior ones less the squared lengths of V's columns
[Kapoor2010, eq. 5 and 6]. A label at pool position i adds one row to each: with the pivot l = sqrt(variance_i + noise),

    v = (k(i, pool) - V_i^T V) / l,    z = (t - mean_i) / l,    mean += v z^T,    variance -= v^2,

in O(n m). L itself is not needed, as V_i is its new row. A class that is new had -1 as its target everywhere, so its
column is the negative of what targets of +1 give, which is carried along. Taking back the last label takes back its row.

A block of q labels does the same with C = k(block, pool) - V_block^T V and the Cholesky factor L of C(block, block) + noise:
its rows of V are L^-1 C, those of Z are L^-1 (t - mean), both as if the labels had come one by one. So the mean of the j-th,
once those before it had come, is known as well: t_j - L_jj z_j.

**Free mean** (`FreeMeanPosterior`, see `fewsight.gp.iterative_variance`). With u = A^-1 1 and h(x) = u^T k(x), the posterior
covariance of x and of a point j that gets a label is

    g(x) = q(x) + (1 - h(x)) (1 - h_j) / 1^T u,    q(x) = k(x, j) - k(x)^T A^-1 k_j,

and the label, with targets t, adds g (t - mean_j) / (variance_j + noise) to all means and takes g^2 / (variance_j + noise) from
all variances. So a label takes one column of the kernel and one product with those that are kept.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar, final

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, cho_solve, solve_triangular

from fewsight._base.types import Array, Indices

FIRST_ROWS = 16
AT_A_TIME = 4_096  # points of the pool whose variances are worked out together
Single = npt.NDArray[np.float32]
Store = TypeVar("Store", Array, Single)


class SavedPosterior(NamedTuple):
    """A `GrowingPosterior` at some moment."""

    n: int
    means: Array
    of_ones: Array
    variance: Array


class MeansAhead(NamedTuple):
    """Of q points, each before its own label came: means (q, c), and that of a class whose targets are all +1 (q,)."""

    mean: Array
    of_ones: Array


@final
class GrowingPosterior:
    """Means (m, c) and variances (m,) of a pool under a zero-mean Gaussian process.

    Memory is that of V, n x m numbers (24 MB for 300 labels and a pool of 10,000), up to twice that while it grows.
    """

    def __init__(self, prior_variance: Array) -> None:
        self._prior = prior_variance
        m = len(prior_variance)
        self.n = self.n_columns = 0  # labels that were learned, and classes that are known
        self._V, self._means = np.empty((0, m)), np.empty((0, m))  # n and, a row per class, c rows are in use
        self._Z: list[Array] = []  # a row per label, as long as there were classes when it came
        self._pivots: list[float] = []  # the diagonal of L
        self._variance = prior_variance.copy()
        self._of_ones, self._Z_of_ones = np.zeros(m), list[float]()  # as a class whose targets are all +1

    @property
    def mean(self) -> Array:
        return self._means[: self.n_columns].T

    @property
    def mean_of_ones(self) -> Array:
        """The mean (m,) of a class whose targets are all +1: what is added to means where their targets are shifted."""
        return self._of_ones

    @property
    def variance(self) -> Array:
        return np.maximum(self._variance, 0.0)

    def covariance(self, K: Array, rows: Indices, columns: Indices) -> Array:
        """Between points of the pool (r, s) whose prior covariances are K (r, s)."""
        V = self._V[: self.n]
        return K - V[:, rows].T @ V[:, columns]

    def condition(self, A: Array, K: Array, targets: Array) -> None:
        """Learn all labels at once: A (n, n) is their covariance with noise, K (n, m) theirs with the pool; K is overwritten."""
        n = len(A)
        lower: Array = np.asarray(np.linalg.cholesky(A), dtype=np.float64) if n else np.zeros((0, 0))
        V = _half_solved(lower, K, overwrite=True)
        Z, of_ones = (_half_solved(lower, side) for side in (targets, np.ones((n, 1))))
        self._V, self._means = V, np.ascontiguousarray(Z.T @ V)
        self.n, self.n_columns = n, targets.shape[1]
        self._Z, self._Z_of_ones, self._pivots = list(Z), of_ones[:, 0].tolist(), lower.diagonal().tolist()
        self._of_ones = of_ones[:, 0] @ V
        self._variance = self._prior - np.einsum("ij,ij->j", V, V)

    def append(self, position: int, row: Array, targets: Array, noise: float) -> None:
        """Learn the label of a point whose kernel with the pool is `row` (m,), which is overwritten; O(n m).

        `targets` (c,) may be longer than before: the further columns are classes that are new.
        """
        self._know(len(targets))
        # Noise below what rounding leaves of a variance is raised to that.
        least = max(1, self.n) * np.finfo(np.float64).eps * float(self._prior[position])
        pivot = float(np.sqrt(max(self._variance[position], 0.0) + max(noise, least)))
        V = self._V[: self.n]
        row -= V[:, position] @ V
        row /= pivot
        z, z_of_ones = (targets - self.mean[position]) / pivot, (1.0 - self._of_ones[position]) / pivot
        self._V = _with_room(self._V, self.n, self.n + 1)
        self._V[self.n] = row
        self.n += 1
        self._Z.append(z)
        self._Z_of_ones.append(z_of_ones)
        self._pivots.append(pivot)
        self._move(row, z, z_of_ones, 1.0)

    def append_block(self, positions: Indices, rows: Array, targets: Array, noise: float | Array) -> MeansAhead:
        """Learn the labels of several points whose kernel with the pool is `rows` (q, m), which are overwritten; O(q n m).

        `noise` is one number, or one for each (q,).
        Returns the means of each, in the order given, before its own label came and after those before it.
        """
        self._know(targets.shape[1])
        V, q = self._V[: self.n], len(positions)
        rows -= V[:, positions].T @ V
        lower = self._factor_of(rows[:, positions], positions, noise)
        ahead = np.column_stack([targets - self.mean[positions], 1.0 - self._of_ones[positions]])
        Z, rows = _half_solved(lower, ahead), _half_solved(lower, rows, overwrite=True)
        self._V = _with_room(self._V, self.n, self.n + q)
        self._V[self.n : self.n + q] = rows
        self.n += q
        self._Z += list(Z[:, :-1])
        self._Z_of_ones += Z[:, -1].tolist()
        self._pivots += lower.diagonal().tolist()
        self._means[: self.n_columns] += Z[:, :-1].T @ rows
        self._of_ones += Z[:, -1] @ rows
        self._variance -= np.einsum("ij,ij->j", rows, rows)
        pivots = lower.diagonal()
        return MeansAhead(targets - pivots[:, None] * Z[:, :-1], 1.0 - pivots * Z[:, -1])

    def _know(self, n_columns: int) -> None:
        """There are this many classes; the new ones had -1 as their target everywhere."""
        self._means = _with_room(self._means, self.n_columns, n_columns)
        self._means[self.n_columns : n_columns] = -self._of_ones
        self.n_columns = n_columns

    def _factor_of(self, covariance: Array, positions: Indices, noise: float | Array) -> Array:
        """The Cholesky factor of posterior covariances (q, q) with noise, at least what rounding leaves of a variance."""
        least = max(1, self.n) * np.finfo(np.float64).eps * self._prior[positions]
        covariance = (
            np.triu(covariance) + np.triu(covariance, 1).T
        )  # the values of the first, as when they come one by one
        np.fill_diagonal(covariance, np.maximum(self._variance[positions], 0.0))
        return np.asarray(np.linalg.cholesky(covariance + np.diag(np.maximum(noise, least))), dtype=np.float64)

    def take_back(self, n_columns: int) -> None:
        """Forget the last label, and all classes but the first `n_columns`."""
        z = self._Z.pop()[: self.n_columns]
        self._pivots.pop()
        self.n -= 1
        self._move(self._V[self.n], z, self._Z_of_ones.pop(), -1.0)
        self.n_columns = n_columns

    def saved(self) -> SavedPosterior:
        """All that further labels change."""
        parts = self._means[: self.n_columns], self._of_ones, self._variance
        return SavedPosterior(self.n, *(part.copy() for part in parts))

    def restore(self, saved: SavedPosterior) -> None:
        """As it was, to the last bit, before the labels that came since; `saved` is used up."""
        self.n, self.n_columns = saved.n, len(saved.means)
        self._means, self._of_ones, self._variance = saved.means, saved.of_ones, saved.variance
        del self._Z[self.n :], self._Z_of_ones[self.n :], self._pivots[self.n :]

    def widen(self, prior_variance: Array, positions: Indices, K: Array) -> None:
        """Take in further points of the pool (q,), whose kernel with the labelled ones at `positions` is K (n, q); O(n^2 q)."""
        V = self._V[: self.n]
        lower = np.tril(V[:, positions].T, -1) + np.diag(self._pivots)
        new = _half_solved(lower, K)
        Z = np.repeat(-np.array(self._Z_of_ones)[:, None], self.n_columns, axis=1)  # of classes that came later
        for row, known in zip(Z, self._Z, strict=True):
            row[: len(known)] = known[: self.n_columns]
        self._V, self._means = np.hstack([V, new]), np.hstack([self._means[: self.n_columns], Z.T @ new])
        self._of_ones = np.append(self._of_ones, np.array(self._Z_of_ones) @ new)
        self._prior = np.append(self._prior, prior_variance)
        self._variance = np.append(self._variance, prior_variance - np.einsum("ij,ij->j", new, new))

    def _move(self, row: Array, z: Array, z_of_ones: float, sign: float) -> None:
        """Add or take back what one row of V contributes."""
        self._means[: self.n_columns] += np.multiply.outer(sign * z, row)
        self._of_ones += sign * z_of_ones * row
        self._variance -= sign * row**2


def _with_room(store: Store, used: int, wanted: int) -> Store:
    """Rows with room for as many as are wanted; it is doubled when it runs out, and those in use are kept."""
    if wanted <= len(store):
        return store
    larger = np.empty((max(FIRST_ROWS, 2 * len(store), wanted), store.shape[1]), dtype=store.dtype)
    larger[:used] = store[:used]
    return larger


def _half_solved(lower: Array, B: Array, *, overwrite: bool = False) -> Array:
    """L^-1 B in C order, so that rows can be appended: solved from the right, as B^T L^-T; in place of B where that may be."""
    if not B.size:
        return np.zeros(B.shape)
    right = np.ascontiguousarray(B).T
    solved: Array = blas.dtrsm(1.0, lower, right, side=1, lower=1, trans_a=1, overwrite_b=int(overwrite))
    return np.ascontiguousarray(solved.T)


class KernelColumns(Protocol):
    """Kernel values of a pool in single precision."""

    def of(self, positions: Indices) -> Single:
        """A row for each of these points, its kernel with the whole pool (n, m)."""


@final
class FreeMeanPosterior:
    """Means (m, c) and variances (m,) of a pool under a Gaussian process with a free mean; it has its own kernel values."""

    def __init__(self, columns: KernelColumns, factor: float, noise: float, prior_variance: Array) -> None:
        self._columns, self._factor, self._noise, self._prior = columns, factor, noise, prior_variance

    def condition(self, where: Indices, targets: Array) -> None:
        """On the labels of the points at `where`, one or more."""
        K = self._columns.of(where)
        A = self._factor * K[:, where].astype(np.float64)
        self._where, self._rows = where, K
        self._lower = np.linalg.cholesky(0.5 * (A + A.T) + self._noise * np.eye(len(where)))
        self._ones = self.solve(np.ones(len(where)))
        self._total = float(self._ones.sum())
        means = self._ones @ targets / self._total
        sides = np.column_stack([self.solve(targets - means), self._ones])
        parts = [self._of_some(slice(start, start + AT_A_TIME), sides) for start in range(0, K.shape[1], AT_A_TIME)]
        inner, explained = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        self.mean, self._inner = inner[:, :-1] + means, inner[:, -1]
        self.variance = self._prior - explained + (1.0 - self._inner) ** 2 / self._total

    def append(self, position: int, targets: Array) -> None:
        """Learn the label of one more point, of a class that may be new: the mean of such a one was -1 everywhere."""
        new = np.full((len(self.mean), len(targets) - self.mean.shape[1]), -1.0)
        self.mean = np.hstack([self.mean, new]) if new.size else self.mean
        n, where = len(self._where), np.append(self._where, position)
        (column,) = self._columns.of(where[n:])
        k = self._factor * column[self._where].astype(np.float64)
        dual = self.solve(k)
        q = self._factor * (column - dual.astype(np.float32) @ self._K)
        g = q + (1.0 - self._inner) * ((1.0 - self._inner[position]) / self._total)
        pivot = max(float(self.variance[position]), 0.0) + self._noise
        self.mean = self.mean + np.multiply.outer(g / pivot, targets - self.mean[position])
        self.variance = self.variance - g**2 / pivot
        self._grow(position, column, k, dual, q)
        self._rows = _with_room(self._rows, n, n + 1)
        self._rows[n], self._where = column, where

    @property
    def _K(self) -> Single:
        """Of the labelled points with the pool (n, m)."""
        return self._rows[: len(self._where)]

    def covariance(self, K: Array, left: Array, right: Array, rows: Indices, columns: Indices) -> Array:
        """Of points at these places, from their kernel values K with each other and with the labelled ones."""
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

    def _grow(self, position: int, column: Single, k: Array, dual: Array, q: Array) -> None:
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
