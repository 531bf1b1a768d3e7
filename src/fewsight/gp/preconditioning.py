"""A preconditioner for conjugate gradients: K nearly as L L^T of low rank, by the Cholesky factorisation with pivots.

K + noise is then close to L L^T + D, where D holds the noise and what is left of the diagonal of K; the inverse of that costs
O(n rank). Setting it up takes `rank` columns of K and O(n rank^2), which pays if many systems share it. Small ranks do harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from fewsight._base.checks import check_integer
from fewsight._base.types import Array
from fewsight.gp.linear_systems import check_noise
from fewsight.gp.operators import ColumnOperator

LEAST_PIVOT = 1e-12  # of the largest diagonal entry


def pivoted_cholesky(operator: ColumnOperator, rank: int) -> tuple[Array, Array]:
    """L (n, rank) with L L^T close to K, and what is left of the diagonal (n,), >= 0.

    Each step takes the column where the most is left; it ends early where nothing is.
    """
    rank = min(check_integer("pivoted_cholesky", "rank", rank, least=1), operator.n)
    left = operator.diag()
    least = LEAST_PIVOT * float(left.max(initial=0.0))
    L = np.zeros((operator.n, rank), order="F")
    for step in range(rank):
        pivot = int(left.argmax())
        if left[pivot] <= least:
            return L[:, :step], np.maximum(left, 0.0)
        column = operator.columns(np.array([pivot]))[:, 0] - L[:, :step] @ L[pivot, :step]
        L[:, step] = column / np.sqrt(left[pivot])
        left = left - L[:, step] ** 2
        left[pivot] = 0.0
    return L, np.maximum(left, 0.0)


@final
@dataclass(frozen=True, eq=False)
class LowRankPreconditioner:
    """(L L^T + D)^-1 for a noise that all right-hand sides share, made by `of`.

    Where each has its own, one is made for their geometric mean: it only decides how fast the search is, never where it ends.
    """

    scaled: Array  # D^-1 L
    inverse: Array  # 1 / D
    corner: tuple[Array, bool]  # of I + L^T D^-1 L

    @classmethod
    def of(cls, L: Array, left: Array, noise: float | Array) -> LowRankPreconditioner:
        """From `pivoted_cholesky` and the noise."""
        columns = np.shape(noise)[1] if np.ndim(noise) == 2 else 1
        per_example = np.exp(np.log(check_noise(noise, (len(L), columns))).mean(axis=1))
        inverse = 1.0 / (left + per_example)
        scaled = inverse[:, None] * L
        return cls(scaled, inverse, cho_factor(np.eye(L.shape[1]) + L.T @ scaled, lower=True))

    def __call__(self, R: Array) -> Array:
        return self.inverse[:, None] * R - self.scaled @ cho_solve(self.corner, self.scaled.T @ R)


@final
@dataclass(frozen=True, eq=False)
class LowRank:
    """K nearly as L L^T, and what is left of its diagonal: what preconditioners for every noise are made of."""

    L: Array  # (n, rank)
    left: Array  # (n,)

    @classmethod
    def of(cls, operator: ColumnOperator, rank: int) -> LowRank:
        """By as many columns of K as its rank."""
        return cls(*pivoted_cholesky(operator, rank))

    def preconditioner(self, noise: Array, kept: npt.NDArray[np.bool_] | None = None) -> LowRankPreconditioner:
        """For this noise and, where some examples are left out, for those that are kept."""
        return LowRankPreconditioner.of(self.L if kept is None else self.L * kept[:, None], self.left, noise)

    def grown(self, diagonal: Array) -> LowRank | None:
        """For more examples, the last of which it knows nothing about; None where they are too many for that."""
        more = len(diagonal) - len(self.left)
        if more > len(self.left) // 4:
            return None
        L = np.vstack([self.L, np.zeros((more, self.L.shape[1]))])
        return LowRank(L, np.concatenate([self.left, diagonal[len(self.left) :]]))
