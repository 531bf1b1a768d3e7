"""The Gaussian kernel, with one scale for all dimensions, one for each, or a relevance for each that may be zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.spatial.distance import cdist

from fewsight._base.checks import check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.against import Against, Plain
from fewsight.kernels.base import Kernel, check_not_negative
from fewsight.kernels.linear import inner_products
from fewsight.kernels.rows import Rows, RowsLike, as_dense, check_rows, dense_bytes_per_row, in_pieces, row_sums

LARGEST_SQUARE = 1e5  # up to here |x|^2 + |z|^2 - 2 x . z loses less than 1e-10; beyond, differences are taken
AT_A_TIME = 1024  # rows that are made ready together
MOST_ZEROS = 8  # numbers to each that is not zero: with more, rows laid out in single precision take too much memory
LARGEST_IN_SINGLE = 16.0  # squared length in units of the scale: up to here single precision is good for 1e-6


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(-1/2 sum_d ((x_d - z_d) / scale_d)^2); `scale` is one number > 0, or one for each dimension.

    Parameters
    ----------
    scale : a number > 0, or one for each of the d dimensions.
    """

    kind: ClassVar[str] = "rbf"
    scale: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _check_scale(self, self.scale))

    @classmethod
    def as_wide_as(cls, X: RowsLike) -> RBF:
        """A Gaussian as wide as the rows X: squared scale = half the number of columns times their variance.

        Parameters
        ----------
        X : rows of numbers (n, d), dense or sparse.
        """
        rows = check_rows("RBF.as_wide_as", "X", X)
        size = rows.shape[0] * rows.shape[1]
        if not size:
            return cls()
        if isinstance(rows, np.ndarray):
            variance = float(np.var(rows))
        else:
            mean = float(rows.data.sum()) / size
            variance = float(((rows.data - mean) ** 2).sum() + (size - rows.nnz) * mean**2) / size
        return cls(scale=float(np.sqrt(0.5 * rows.shape[1] * variance)) if variance > 0 else 1.0)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        K = squared_distances(*self._scaled(A, B))
        K *= -0.5
        return np.exp(K, out=K)

    def _against(self, rows: Rows) -> Against[Rows]:
        return InUnits(self, rows) if isinstance(rows, np.ndarray) and len(rows) else Plain(self, rows)

    def _against_in_single(self, rows: Rows) -> Against[Rows]:
        if not rows.shape[0] or (not isinstance(rows, np.ndarray) and MOST_ZEROS * rows.nnz < np.prod(rows.shape)):
            return self._against(rows)
        ready = InUnits(self, rows, np.float32)
        return ready if ready.squares.max() <= LARGEST_IN_SINGLE else self._against(rows)

    def _diag(self, A: Rows) -> Array:
        return np.ones(A.shape[0])

    def _width(self) -> int | None:
        return len(self.scale) if isinstance(self.scale, tuple) else None

    def _scaled(self, A: Rows, B: Rows | None) -> tuple[Rows, Rows | None]:
        """Rows in units of the scale; dense ones around the mean of A, because distances do not mind and rounding does."""
        dense = isinstance(A, np.ndarray) and (B is None or isinstance(B, np.ndarray))
        centre = A.mean(axis=0) if dense and len(A) else 0.0
        return self._in_units(A, centre), None if B is None else self._in_units(B, centre)

    def _in_units(self, rows: Rows, centre: Array | float) -> Rows:
        if isinstance(rows, np.ndarray):
            return (rows - centre) / np.asarray(self.scale)
        units = np.broadcast_to(np.asarray(self.scale), rows.shape[1])[rows.indices]
        return scipy.sparse.csr_array((rows.data / units, rows.indices, rows.indptr), shape=rows.shape)


@final
class InUnits(Against[Rows]):
    """For a Gaussian: dense rows around their mean, in units of its scale, and their squares, once and for all.

    Rows in single precision are rounded; their inner products are then in single precision too, all else in double.
    """

    kernel: RBF

    def __init__(self, kernel: RBF, rows: Rows, precision: type[np.floating[Any]] = np.float64) -> None:
        super().__init__(kernel, rows)
        self.centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
        self.rows: npt.NDArray[Any] = np.empty(rows.shape, precision)
        for start in range(0, len(self.rows), AT_A_TIME):  # no second matrix in double precision
            some = slice(start, start + AT_A_TIME)
            self.rows[some] = kernel._in_units(as_dense(rows[some]), self.centre)
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64)

    def _gram(self, A: Rows) -> Array:
        asked = as_dense(self.kernel._in_units(as_dense(A), self.centre))
        if self.rows.dtype == np.float64:
            K = squared_distances(asked, self.rows, self.squares)
        else:
            K = (asked.astype(np.float32) @ self.rows.T).astype(np.float64)
            K *= -2.0
            K += row_sums(asked, power=2)[:, None] + self.squares
            np.maximum(K, 0.0, out=K)
        K *= -0.5
        return np.exp(K, out=K)


@dataclass(frozen=True)
class RelevanceRBF(Kernel):
    """k(x, z) = exp(-sum_d relevance_d (x_d - z_d)^2), with one relevance >= 0 for each dimension.

    A relevance of zero leaves its dimension out, which a scale of `RBF` cannot; theta_d^2 of [Gehler2009, section 3].
    """

    kind: ClassVar[str] = "relevance_rbf"
    relevances: tuple[float, ...]

    def __post_init__(self) -> None:
        if np.ndim(self.relevances) != 1 or len(self.relevances) == 0:
            raise InvalidInput(
                f"RelevanceRBF: relevances must be one number >= 0 for each dimension, got {shown(self.relevances)}."
            )
        checked = tuple(check_not_negative(self, "a relevance", relevance) for relevance in self.relevances)
        object.__setattr__(self, "relevances", checked)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        relevances = np.array(self.relevances)
        kept = np.flatnonzero(relevances)
        if not len(kept):
            return np.ones((A.shape[0], (A if B is None else B).shape[0]))
        gaussian = RBF(scale=tuple((1.0 / np.sqrt(2.0 * relevances[kept])).tolist()))
        return gaussian._gram(A[:, kept], None if B is None else B[:, kept])

    def _diag(self, A: Rows) -> Array:
        return np.ones(A.shape[0])

    def _width(self) -> int:
        return len(self.relevances)


def squared_distances(A: Rows, B: Rows | None, b_squares: Array | None = None) -> Array:
    """Squared Euclidean distances between rows, never below zero, exactly zero from a row to itself if B is None.

    `b_squares` are the squared lengths of the rows of B, where they are known.
    """
    a_squares = row_sums(A, power=2)
    if b_squares is None:
        b_squares = a_squares if B is None else row_sums(B, power=2)
    if max(a_squares.max(initial=0.0), b_squares.max(initial=0.0)) > LARGEST_SQUARE:
        bytes_per_row = max(dense_bytes_per_row(A), 0.0 if B is None else dense_bytes_per_row(B))
        return in_pieces(_differences, as_dense, A, B, bytes_per_row)
    K = inner_products(A, B)
    K *= -2.0
    for i in range(len(K)):  # one row at a time: no second matrix; the squares first: symmetric to the last bit
        K[i] += a_squares[i] + b_squares
    np.maximum(K, 0.0, out=K)
    if B is None:
        np.fill_diagonal(K, 0.0)
    return K


def _differences(A: Array, B: Array | None) -> Array:
    return cdist(A, A if B is None else B, "sqeuclidean")


def _check_scale(owner: object, scale: Any) -> float | tuple[float, ...]:
    if np.ndim(scale) == 0:
        return check_positive(owner, "scale", scale)
    if np.ndim(scale) != 1 or len(scale) == 0:
        raise InvalidInput(f"RBF: scale must be a number or one number for each dimension, got {shown(scale)}.")
    return tuple(check_positive(owner, f"scale[{place}]", value) for place, value in enumerate(scale))
