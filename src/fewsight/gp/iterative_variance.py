"""Predictive variance without a factorisation: exactly by conjugate gradients, or bounded by a few directions.

With a free mean (see `fewsight.gp.evidence`), u = A^-1 1 and the covariances k of a new example with all others,

    variance = k(x, x) - k^T A^-1 k + (1 - u^T k)^2 / (1^T u).

For any vectors W, k^T A^-1 k >= |R^-T W^T k|^2 where W^T A W = R^T R: so a few columns C = W R^-1 give an upper bound from
the inner products of k with them alone, and the leading eigenvectors give the best one. [Rodner2012, section 7, names this as
open]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from fewsight._base.types import Array, Indices
from fewsight.gp.lanczos import largest_eigenvalues
from fewsight.gp.linear_systems import Preconditioner, conjugate_gradients
from fewsight.gp.operators import LinearOperator

COLUMNS = 64  # solved for at a time


@final
@dataclass(frozen=True, eq=False)
class IterativeVariance:
    """Of K + diag(noise), in units of K. `ones` is A^-1 1 for a free mean, or None for a mean of zero."""

    operator: LinearOperator
    noise: Array  # (n,)
    ones: Array | None
    tolerance: float = 1e-4
    preconditioner: Preconditioner | None = None

    def of(self, K_new: Array, diagonal: Array) -> Array:
        """Variances (m,) of new examples whose covariances with the n examples are K_new (n, m)."""
        explained = np.empty(len(diagonal))
        for start in range(0, len(diagonal), COLUMNS):
            block = slice(start, start + COLUMNS)
            explained[block] = np.einsum("ij,ij->j", K_new[:, block], self._solve(K_new[:, block]))
        return np.maximum(diagonal - explained + self.of_mean(self._ones_inner(K_new)), 0.0)

    def left_out(self, indices: Indices) -> Array:
        """Variances of the latent values of training examples, each predicted from all others: 1 / P_ii - noise_i."""
        precisions = np.empty(len(indices))
        for start in range(0, len(indices), COLUMNS):
            chosen = indices[start : start + COLUMNS]
            unit = np.zeros((self.operator.n, len(chosen)))
            unit[chosen, np.arange(len(chosen))] = 1.0
            precisions[start : start + COLUMNS] = self._solve(unit)[chosen, np.arange(len(chosen))]
        if self.ones is not None:
            precisions -= self.ones[indices] ** 2 / self.ones.sum()
        return np.maximum(1.0 / precisions - self.noise[indices], 0.0)

    def of_mean(self, ones_inner: Array) -> Array:
        """What not knowing the mean adds, from u^T k (m,)."""
        return np.zeros_like(ones_inner) if self.ones is None else (1.0 - ones_inner) ** 2 / self.ones.sum()

    def directions(self, count: int, *, random_state: int = 0) -> Array:
        """C (n, count) such that variance <= k(x, x) - |C^T k|^2 + what the mean adds."""
        ritz = largest_eigenvalues(self.operator, count, tolerance=1e-2, random_state=random_state)
        W = ritz.vectors
        R = cholesky(np.diag(ritz.values) + W.T @ (self.noise[:, None] * W))
        return solve_triangular(R, W.T, trans="T").T

    def _ones_inner(self, K_new: Array) -> Array:
        return np.zeros(K_new.shape[1]) if self.ones is None else self.ones @ K_new

    def _solve(self, B: Array) -> Array:
        options = {"tolerance": self.tolerance, "preconditioner": self.preconditioner}
        return conjugate_gradients(self.operator, B, self.noise, **options).columns  # type: ignore[arg-type]
