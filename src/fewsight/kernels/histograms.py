"""Kernels of histograms: rows of numbers that are zero or more, most of them zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_positive
from fewsight._base.types import Array
from fewsight._compiled import chi_square, histogram_intersection
from fewsight.kernels.against import Against, Listed
from fewsight.kernels.base import Kernel
from fewsight.kernels.rows import Rows, as_sparse, in_pieces, row_sums, sparse_bytes_per_row


@dataclass(frozen=True)
class HistogramIntersection(Kernel):
    """k(x, z) = sum_d min(x_d, z_d): what two histograms have in common. [Rodner2012, eq. 4]"""

    kind: ClassVar[str] = "histogram_intersection"
    needs_non_negative: ClassVar[bool] = True

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        return in_pieces(histogram_intersection.gram, as_sparse, A, B, _bytes_per_row(A, B))

    def _diag(self, A: Rows) -> Array:
        return row_sums(A)

    def _against(self, B: Rows) -> Against:
        return Listed(self, B)


@dataclass(frozen=True)
class ExponentialChiSquare(Kernel):
    """k(x, z) = exp(-gamma sum_d (x_d - z_d)^2 / (x_d + z_d)), where 0 / 0 counts as 0."""

    kind: ClassVar[str] = "exponential_chi_square"
    needs_non_negative: ClassVar[bool] = True
    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self, "gamma", self.gamma))

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        K = in_pieces(chi_square.distances, as_sparse, A, B, _bytes_per_row(A, B))
        K *= -self.gamma
        return np.exp(K, out=K)

    def _diag(self, A: Rows) -> Array:
        return np.ones(A.shape[0])


def _bytes_per_row(A: Rows, B: Rows | None) -> float:
    return max(sparse_bytes_per_row(A), 0.0 if B is None else sparse_bytes_per_row(B))
