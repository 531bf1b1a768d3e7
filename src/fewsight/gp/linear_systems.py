"""Conjugate gradients for many right-hand sides at once, each with a noise of its own. [Rodner2012, section 5.1]

All columns are multiplied with K together, which costs far less than one after the other; a column that is done drops out. What
counts is the true residual, not the one that the recurrence believes in: where they differ, the search starts again from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from fewsight._base.checks import check_integer, check_matrix, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.gp.operators import LinearOperator

WHO = "conjugate_gradients"
Watch = Callable[[int, Array], None]  # told the iteration and the residuals (n, columns not done yet)


class Preconditioner(Protocol):
    """Something close to (K + noise)^-1, symmetric and positive definite."""

    def __call__(self, R: Array) -> Array:
        """What it makes of the columns of R."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """(K + noise)^-1 right_sides, as closely as `residual` says: the largest |b - A x| / |b| of all columns."""

    columns: Array
    iterations: int
    residual: float
    converged: bool


def conjugate_gradients(
    operator: LinearOperator,
    right_sides: Array,
    noise: float | Array,
    *,
    start: Array | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1_000,
    preconditioner: Preconditioner | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Solve (K + diag(noise)) x = b for every column b.

    Parameters
    ----------
    operator : K, positive semi-definite.
    right_sides : (n, c).
    noise : > 0: one number, one for each example (n,), or a column of them for each right-hand side (n, c).
    start : a guess (n, c), such as the solution for slightly other noise or fewer examples.
    tolerance : of the true residual, relative to the right-hand side, in the Euclidean norm, for every column.
    max_iterations : products with K after which the search ends anyway; `converged` says whether it did.
    preconditioner : see `fewsight.gp.preconditioning`.
    """
    B = check_matrix(WHO, "right_sides", right_sides, shape=(operator.n, None))
    N = check_noise(noise, B.shape)
    tolerance = check_positive(WHO, "tolerance", tolerance)
    limit = check_integer(WHO, "max_iterations", max_iterations, least=1)
    X = np.zeros_like(B) if start is None else np.array(check_matrix(WHO, "start", start, shape=B.shape))
    search = _Search(operator, N, preconditioner, watch)
    goals = tolerance * norms(B)
    return search.run(B, X, goals, limit, warm=start is not None)


def check_noise(noise: float | Array, shape: tuple[int, ...]) -> Array:
    """Noise as a matrix of n rows and 1 or c columns."""
    given = np.asarray(noise, dtype=np.float64)
    fits = given.shape in ((), (shape[0],), (shape[0], 1), shape)
    if not fits or not (np.isfinite(given) & (given > 0)).all():
        raise InvalidInput(
            f"{WHO}: noise must be finite and > 0, one number or one for each of {shape[0]} rows or of {shape} targets, "
            f"got {shown(noise) if fits else given.shape}."
        )
    return given if given.ndim == 2 else np.full((shape[0], 1), given[:, None] if given.ndim else given)


def norms(columns: Array) -> Array:
    """The length of each column."""
    return np.sqrt(np.einsum("ij,ij->j", columns, columns))


@dataclass
class _Search:
    operator: LinearOperator
    noise: Array  # (n, 1) or (n, c)
    preconditioner: Preconditioner | None
    watch: Watch | None
    iterations: int = 0

    def run(self, B: Array, X: Array, goals: Array, limit: int, *, warm: bool) -> Solution:
        residuals = B - self._multiply(X, np.arange(B.shape[1])) if warm else B.copy()
        open_ = np.flatnonzero(norms(residuals) > goals)
        while open_.size and self.iterations < limit:
            X[:, open_] = self._descend(X[:, open_], residuals[:, open_], goals[open_], open_, limit)
            residuals[:, open_] = B[:, open_] - self._multiply(X[:, open_], open_)
            still = open_[norms(residuals[:, open_]) > goals[open_]]
            if still.size == open_.size and not self._improves(residuals[:, open_], goals[open_]):
                break
            open_ = still
        scale = np.where(norms(B) > 0, norms(B), 1.0)
        worst = float((norms(residuals) / scale).max(initial=0.0))
        return Solution(X, self.iterations, worst, open_.size == 0)

    def _improves(self, residuals: Array, goals: Array) -> bool:
        """Whether starting again can help: rounding sets a limit that no restart gets below."""
        previous, self._last = getattr(self, "_last", np.inf), float((norms(residuals) / goals).max())
        return self._last < 0.5 * previous

    def _descend(self, X: Array, R: Array, goals: Array, columns: Indices, limit: int) -> Array:
        """One run of the recurrence on these columns, until it believes that all are done."""
        done, places = X.copy(), np.arange(X.shape[1])
        Z = R if self.preconditioner is None else self.preconditioner(R)
        P, steepness = Z, np.einsum("ij,ij->j", R, Z)
        while places.size and self.iterations < limit:
            Q = self._multiply(P, columns)
            self.iterations += 1
            curvature = np.einsum("ij,ij->j", P, Q)
            length = np.divide(steepness, curvature, out=np.zeros_like(steepness), where=curvature > 0)
            X = X + length * P
            R = R - length * Q
            if self.watch is not None:
                self.watch(self.iterations, R)
            going = (norms(R) > goals) & (length > 0)
            if not going.all():
                done[:, places[~going]] = X[:, ~going]
                X, R, P, Z = X[:, going], R[:, going], P[:, going], Z[:, going]
                goals, columns, places, steepness = goals[going], columns[going], places[going], steepness[going]
            Z = R if self.preconditioner is None else self.preconditioner(R)
            before, steepness = steepness, np.einsum("ij,ij->j", R, Z)
            P = Z + (steepness / before) * P
        done[:, places] = X
        return done

    def _multiply(self, P: Array, columns: Indices) -> Array:
        noise = self.noise if self.noise.shape[1] == 1 else self.noise[:, columns]
        return self.operator @ np.ascontiguousarray(P) + noise * P
