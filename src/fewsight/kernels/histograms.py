"""Kernels of histograms: rows of numbers that are zero or more, most of them zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import scipy.sparse

from fewsight._base.checks import check_positive, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight._compiled import chi_square, histogram_intersection
from fewsight._compiled.chi_square_columns import ChiSquareColumns
from fewsight.kernels.against import Against, Listed
from fewsight.kernels.base import Kernel, check_not_negative
from fewsight.kernels.histogram_transforms import transform_named
from fewsight.kernels.rows import Rows, Sparse, as_sparse, in_pieces, row_sums, sparse_bytes_per_row

LARGEST_SUM = 10.0  # of a row, in units of 1 / gamma: up to here single precision is good for 1e-6
FEW = 1_000  # times as many other rows, and a row's columns are looked for among theirs first


@dataclass(frozen=True)
class HistogramIntersection(Kernel):
    """k(x, z) = sum_d min(x_d, z_d): what two histograms have in common. [Rodner2012, eq. 4]"""

    kind: ClassVar[str] = "histogram_intersection"
    needs_non_negative: ClassVar[bool] = True

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        if B is not None and A.shape[0] * FEW <= B.shape[0]:
            A, B = _in_columns_of_first(as_sparse(A), B)
        return in_pieces(histogram_intersection.gram, as_sparse, A, B, _bytes_per_row(A, B))

    def _diag(self, A: Rows) -> Array:
        return row_sums(A)

    def _against(self, B: Rows) -> Against:
        return Listed(self, B)


@dataclass(frozen=True)
class PartialMatch(Kernel):
    """k(x, z) = sum_d min(x_d, z_d) / sqrt(sum_d x_d sum_d z_d): what two histograms have in common, divided by the root of what
    each has in common with itself.

    Of counts it is a match of parts: what the larger histogram has besides makes it smaller by a root only. [Kapoor2010, section
    5] counts matches and divides by nothing.
    """

    kind: ClassVar[str] = "partial_match"
    needs_non_negative: ClassVar[bool] = True

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        return self._divided(HistogramIntersection()._gram(A, B), A, A if B is None else B)

    def _diag(self, A: Rows) -> Array:
        return np.where(row_sums(A) > 0, 1.0, 0.0)

    def _divided(self, K: Array, A: Rows, B: Rows) -> Array:
        roots = [np.sqrt(row_sums(rows)) for rows in (A, B)]
        shares = [np.divide(1.0, root, out=np.zeros_like(root), where=root > 0) for root in roots]
        return np.asarray(K * shares[0][:, None] * shares[1])


@dataclass(frozen=True)
class GeneralHistogramIntersection(Kernel):
    """k(x, z) = sum_d w_d min(g(x_d), g(z_d)), as a matrix; `HistogramOperator` is the same without one. [Rodner2012, eq. 7, 8]

    `transform` is 'none', 'power' (g(x) = x^parameter) or 'exponential'; no `weights` means that all are 1.
    """

    kind: ClassVar[str] = "general_histogram_intersection"
    needs_non_negative: ClassVar[bool] = True
    transform: str = "none"
    parameter: float | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        transform_named(self.transform, self.parameter, self)
        if self.weights is not None:
            if not isinstance(self.weights, (tuple, list)):
                raise InvalidInput(
                    f"{owner_name(self)}: weights must be None or numbers >= 0, got {shown(self.weights)}."
                )
            listed = tuple(check_not_negative(self, "a weight", weight) for weight in self.weights)
            object.__setattr__(self, "weights", listed)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        other = None if B is None else self._transformed(B)
        return HistogramIntersection()._gram(self._transformed(A), other)

    def _diag(self, A: Rows) -> Array:
        return row_sums(self._transformed(A))

    def _width(self) -> int | None:
        return None if self.weights is None else len(self.weights)

    def _transformed(self, rows: Rows) -> Rows:
        """Rows whose plain intersection this is: w min(g(x), g(z)) is the smaller of w g(x) and w g(z)."""
        g, sparse = transform_named(self.transform, self.parameter, self), as_sparse(rows)
        values = g(sparse.data) * (1.0 if self.weights is None else np.asarray(self.weights)[sparse.indices])
        changed = type(sparse)((values, sparse.indices, sparse.indptr), shape=sparse.shape)
        if not values.all():  # a weight of zero, or a power too small for a float
            changed = changed.copy()
            changed.eliminate_zeros()
        return changed


@dataclass(frozen=True)
class ExponentialChiSquare(Kernel):
    """k(x, z) = exp(-gamma sum_d (x_d - z_d)^2 / (x_d + z_d)), where 0 / 0 counts as 0.

    Parameters
    ----------
    gamma : a number > 0.
    """

    kind: ClassVar[str] = "exponential_chi_square"
    needs_non_negative: ClassVar[bool] = True
    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self, "gamma", self.gamma))

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        return self._of(in_pieces(chi_square.distances, as_sparse, A, B, _bytes_per_row(A, B)))

    def _of(self, distances: Array) -> Array:
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diag(self, A: Rows) -> Array:
        return np.ones(A.shape[0])

    def _against(self, B: Rows) -> Against:
        return LaidOut(self, as_sparse(B), np.float64)

    def _against_in_single(self, B: Rows) -> Against:
        sparse = as_sparse(B)
        rounds_well = self.gamma * sparse.sum(axis=1).max(initial=0.0) <= LARGEST_SUM
        return LaidOut(self, sparse, np.float32 if rounds_well else np.float64)


@final
class LaidOut(Against[Rows]):
    """For chi-square: rows column by column, in about as much memory as they take themselves, or in half of it."""

    kernel: ExponentialChiSquare

    def __init__(
        self, kernel: ExponentialChiSquare, rows: Sparse, precision: type[np.float32] | type[np.float64]
    ) -> None:
        super().__init__(kernel, rows)
        self.columns = ChiSquareColumns.of(rows, precision)

    def _gram(self, A: Rows) -> Array:
        return self.kernel._of(self.columns.distances(as_sparse(A)))


def _in_columns_of_first(A: Sparse, B: Rows) -> tuple[Sparse, Rows]:
    """Both without the columns that A, which has few rows, does not have: they add nothing."""
    if isinstance(B, np.ndarray):
        return A, B
    wanted = np.zeros(A.shape[1], dtype=bool)
    wanted[A.indices] = True
    kept = wanted[B.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[B.indptr]
    return A, scipy.sparse.csr_array((B.data[kept], B.indices[kept], ends.astype(B.indptr.dtype)), shape=B.shape)


def _bytes_per_row(A: Rows, B: Rows | None) -> float:
    return max(sparse_bytes_per_row(A), 0.0 if B is None else sparse_bytes_per_row(B))
