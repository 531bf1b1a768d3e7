"""Histograms as the implicit kernel matrix reads them: their non-zeros, dimension by dimension in ascending order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.types import Array
from fewsight._compiled import sorted_columns
from fewsight._compiled.intersection_points import values_of_row
from fewsight.kernels.rows import Sparse, as_sparse, check_rows

Ints = npt.NDArray[Any]

OWNER = "HistogramOperator"


@final
@dataclass(frozen=True, eq=False)
class SortedHistograms:
    """Rows of numbers >= 0 of one width, 14 bytes a non-zero (16 beyond 65,536 dimensions). Nothing of it ever changes.

    `starts` (width + 1), `rows` and `values` list each dimension's non-zeros in ascending order; `row_starts` (n + 1) and `dims`
    list each row's dimensions.
    """

    starts: Ints
    rows: Ints
    values: Array
    row_starts: Ints
    dims: Ints

    @classmethod
    def from_rows(cls, X: Any, width: int | None = None) -> SortedHistograms:
        """Sort an array or a SciPy sparse matrix of finite numbers >= 0, of that width where it is given."""
        return cls.from_sparse(checked_histograms("X", X, width))

    @classmethod
    def from_sparse(cls, rows: Sparse) -> SortedHistograms:
        """Sort canonical CSR rows > 0, as `checked_histograms` returns them."""
        columns = rows.tocsc()
        starts, dims = columns.indptr.astype(np.int64), rows.indices.astype(index_type(rows.shape[1]))
        numbers, values = columns.indices.astype(np.uint32), columns.data
        sorted_columns.sort_columns(starts, numbers, values)
        return cls(starts, numbers, values, rows.indptr.astype(np.int64), dims)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.row_starts) - 1

    @property
    def width(self) -> int:
        """How many dimensions there are, empty ones too."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The memory of all arrays."""
        return sum(part.nbytes for part in (self.starts, self.rows, self.values, self.row_starts, self.dims))

    def append(self, X: Any) -> SortedHistograms:
        """These rows and then those of X, which alone are sorted; the two are merged."""
        new = SortedHistograms.from_rows(X, self.width)
        there = new.starts, new.rows + np.uint32(self.n), new.values
        starts, rows, values = sorted_columns.merge_columns(self.starts, self.rows, self.values, *there)
        row_starts = np.concatenate([self.row_starts, self.row_starts[-1] + new.row_starts[1:]])
        return SortedHistograms(starts, rows, values, row_starts, np.concatenate([self.dims, new.dims]))

    def take(self, indices: Any) -> Sparse:
        """Some of the rows, as canonical CSR."""
        spans = [slice(self.row_starts[i], self.row_starts[i + 1]) for i in indices]
        dims = [self.dims[span] for span in spans]
        columns = self.starts, self.rows, self.values
        values = [values_of_row(*columns, some, int(i)) for some, i in zip(dims, indices, strict=True)]
        starts = np.cumsum([0, *map(len, dims)])
        joined = np.concatenate([*values, np.empty(0)]), np.concatenate([*dims, np.empty(0, self.dims.dtype)])
        return scipy.sparse.csr_array((joined[0], joined[1].astype(np.int64), starts), shape=(len(spans), self.width))


def checked_histograms(name: str, X: Any, width: int | None = None) -> Sparse:
    """Finite rows >= 0 of that width as canonical CSR, or one sentence."""
    return as_sparse(check_rows(OWNER, name, X, width=width, non_negative=OWNER))


def index_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that counts to `size`, exclusively."""
    return np.uint16 if size <= 2**16 else np.uint32
