"""Histograms as the implicit kernel matrix reads them: their non-zeros, dimension by dimension in ascending order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight._compiled import sorted_columns
from fewsight._compiled.canonical_rows import are_histograms
from fewsight._compiled.column_totals import BYTES, masks_of_rows, worth_masks
from fewsight._compiled.sorted_columns import Columns, Ints
from fewsight.kernels.histogram_transforms import OWNER
from fewsight.kernels.rows import RowsLike, Sparse, as_sparse, check_rows

NARROW = 2**16  # dimensions that 16 bits can name


@final
@dataclass(frozen=True, eq=False)
class SortedHistograms:
    """Rows of numbers >= 0 of one width, 14 to 16 bytes a non-zero. Nothing of it ever changes.

    `columns` lists each dimension's non-zeros in ascending order; `row_starts` (n + 1) and `dims` list each row's dimensions, and
    so do the bits of `masks` where enough values are not zero; `order` has the longest dimensions first.
    """

    columns: Columns
    row_starts: Ints
    dims: Ints
    masks: Ints
    order: Ints
    n: int  # rows
    width: int  # dimensions, empty ones too

    @classmethod
    def from_rows(cls, X: RowsLike, width: int | None = None) -> SortedHistograms:
        """Sort an array or a SciPy sparse matrix of finite numbers >= 0, of that width where it is given."""
        return cls.from_sparse(checked_histograms("X", X, width))

    @classmethod
    def from_sparse(cls, rows: Sparse) -> SortedHistograms:
        """Sort canonical CSR rows > 0, as `checked_histograms` returns them."""
        by_dimension = rows.tocsc()
        starts, numbers = by_dimension.indptr.astype(np.int64), by_dimension.indices.astype(np.uint32)
        columns = Columns(starts, numbers, by_dimension.data)
        sorted_columns.sort_all(columns)
        dims = rows.indices.astype(np.uint16 if rows.shape[1] <= NARROW else np.uint32)
        return cls._joined(columns, rows.indptr.astype(np.int64), dims)

    @classmethod
    def _joined(cls, columns: Columns, row_starts: Ints, dims: Ints) -> SortedHistograms:
        """With what follows from the two sides."""
        n, width = len(row_starts) - 1, len(columns.starts) - 1
        many = width <= NARROW and worth_masks(n, width, len(dims))
        masks = masks_of_rows(row_starts, dims, width) if many else np.empty((0, n, BYTES), np.uint8)
        order = np.argsort(-np.diff(columns.starts), kind="stable")
        return cls(columns, row_starts, dims, masks, order, n, width)

    @property
    def nbytes(self) -> int:
        """The memory of all arrays."""
        return sum(part.nbytes for part in (*self.columns, self.row_starts, self.dims, self.masks, self.order))

    def append(self, X: RowsLike) -> SortedHistograms:
        """These rows and then those of X, which alone are sorted; the two are merged."""
        new = SortedHistograms.from_rows(X, self.width)
        later = new.columns._replace(rows=new.columns.rows + np.uint32(self.n))
        columns = Columns(*sorted_columns.merge_columns(self.columns, later))
        row_starts = np.concatenate([self.row_starts, self.row_starts[-1] + new.row_starts[1:]])
        return SortedHistograms._joined(columns, row_starts, np.concatenate([self.dims, new.dims]))

    def rows(self) -> Sparse:
        """All rows, as canonical CSR."""
        starts, rows, values = self.columns
        by_dimension = scipy.sparse.csc_array((values, rows.astype(np.int64), starts), shape=(self.n, self.width))
        return by_dimension.tocsr()

    def take(self, indices: Ints, columns: Columns | None = None) -> Sparse:
        """Some of the rows, as canonical CSR; with the values of other columns, where these are given."""
        source = self.columns if columns is None else columns
        dims = [self.dims[self.row_starts[i] : self.row_starts[i + 1]] for i in indices]
        values = [sorted_columns.values_of_row(source, some, int(i)) for some, i in zip(dims, indices, strict=True)]
        starts = np.cumsum([0, *map(len, dims)])
        joined = np.concatenate([*values, np.empty(0)]), np.concatenate([*dims, np.empty(0, np.int64)])
        return scipy.sparse.csr_array((joined[0], joined[1].astype(np.int64), starts), shape=(len(dims), self.width))


def checked_histograms(name: str, X: RowsLike, width: int | None = None) -> Sparse:
    """Finite rows >= 0 of that width as canonical CSR, or one sentence."""
    if scipy.sparse.issparse(X) and _are_ready(X, width):
        return X if isinstance(X, scipy.sparse.csr_array) else Sparse(X)
    return as_sparse(check_rows(OWNER, name, X, width=width, non_negative=OWNER))


def check_columns(name: str, V: npt.ArrayLike, n: int) -> Array:
    """A finite vector or matrix of n rows, as a matrix."""
    try:
        numbers = np.asarray(V, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{OWNER}: {name} must be an array of numbers, got {shown(V)}.") from None
    if numbers.ndim not in (1, 2) or len(numbers) != n:
        was = " x ".join(map(str, numbers.shape)) or "a single number"
        raise InvalidInput(f"{OWNER}: {name} must have {n} rows, got {was}.")
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{OWNER}: {name} must hold finite numbers only, got NaN or infinity.")
    return numbers if numbers.ndim == 2 else numbers[:, None]


def _are_ready(X: Sparse, width: int | None) -> bool:
    """Whether the rows are canonical CSR already, found in a third of the time of a full check."""
    if X.format != "csr" or X.ndim != 2 or X.dtype != np.float64:
        return False
    starts, fits = X.indptr, width in (None, X.shape[1])
    sound = starts[0] == 0 and bool((np.diff(starts) >= 0).all()) and starts[-1] <= min(len(X.indices), len(X.data))
    return bool(fits and sound and are_histograms(starts, X.indices, X.data, X.shape[1]))
