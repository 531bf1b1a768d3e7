"""Chi-square distance of a few rows to many that were laid out column by column beforehand, in double or single precision.

As in `chi_square`, only sum_d x_d z_d / (x_d + z_d) needs pairs, and only in the columns that x fills. The columns that many of
the m rows fill are laid out densely, one after the other, so that a column is read in one go and divided lane by lane; of the
others the non-zeros are listed (which row, which value). In single precision half as much is read and twice as many numbers
are divided at once: with a thousand columns of ten thousand rows, that decides the time. Terms of FEW columns are then added in
single precision, these sums in double: distances of rows that sum to one are off by about 1e-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numba
import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._loops import in_shares
from fewsight._compiled._row_tiles import Ints

Numbers = npt.NDArray[np.float32] | npt.NDArray[np.float64]

DENSE_SHARE = (
    0.25  # of the rows that fill a column: from here on it is laid out, which takes half of a list's memory at most
)
AT_ONCE = 512  # rows whose sums are in the nearest cache
FEW = 16


@final
@dataclass(frozen=True, eq=False)
class ChiSquareColumns:
    """m canonical CSR rows > 0 by columns: `place` says where a column is, counting from the last where it is listed."""

    place: Ints  # (d,): number of the dense column, or -1 - number of the list
    dense: Numbers  # (k, m)
    starts: Ints  # (l + 1,), of the lists
    rows: Ints
    values: Numbers
    sums: Array  # (m,), of the rows

    @classmethod
    def of(cls, M: scipy.sparse.csr_array, precision: type[np.float32] | type[np.float64] = np.float64) -> Self:
        """Rows laid out; empty columns are lists of nothing."""
        counts = np.bincount(M.indices, minlength=M.shape[1])
        is_dense = counts > DENSE_SHARE * M.shape[0]
        place = np.where(is_dense, np.cumsum(is_dense) - 1, -np.cumsum(~is_dense))
        listed = M[:, ~is_dense].tocsc()
        dense = np.empty((int(is_dense.sum()), M.shape[0]), precision)
        for start in range(0, M.shape[0], AT_ONCE):  # a few rows at a time: no second matrix
            dense[:, start : start + AT_ONCE] = M[start : start + AT_ONCE][:, is_dense].toarray().T
        starts, rows = listed.indptr.astype(np.int64), listed.indices.astype(np.int32)
        sums = np.asarray(M.sum(axis=1), dtype=np.float64).ravel()
        return cls(place, dense, starts, rows, listed.data.astype(precision), sums)

    def distances(self, A: scipy.sparse.csr_array) -> Array:
        """Of canonical CSR rows > 0 to all rows that were laid out (n, m)."""
        m, (starts, places) = len(self.sums), (A.indptr.astype(np.int64), self.place[A.indices])
        ends = np.minimum(np.arange(0, m + AT_ONCE, AT_ONCE), m)
        lists = self.starts, self.rows, self.values

        def share(first: int, last: int) -> Array:
            return overlaps(starts, places, A.data, self.dense, *lists, int(ends[first]), int(ends[last]))

        found = np.hstack(in_shares(share, float(A.nnz) * ends))
        found *= -4.0
        found += np.asarray(A.sum(axis=1)).reshape(-1, 1) + self.sums
        return np.maximum(found, 0.0, out=found)


def overlaps_reference(
    a_starts: Ints,
    places: Ints,
    a_values: Array,
    dense: Numbers,
    starts: Ints,
    rows: Ints,
    values: Numbers,
    first: int,
    last: int,
) -> Array:
    """The definition: sum_d x_d z_d / (x_d + z_d) of rows x, whose numbers are at `places`, with some of the m."""
    listed = np.zeros((len(starts) - 1, dense.shape[1]))
    listed[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), rows] = values
    K = np.zeros((len(a_starts) - 1, dense.shape[1]))
    for i in range(len(K)):
        for t in range(a_starts[i], a_starts[i + 1]):
            z = dense[places[t]].astype(np.float64) if places[t] >= 0 else listed[-1 - places[t]]
            K[i] += a_values[t] * z / (a_values[t] + z)
    return K[:, first:last]


@compiled(nogil=True, error_model="numpy")
def overlaps(
    a_starts: Ints,
    places: Ints,
    a_values: Array,
    dense: Numbers,
    starts: Ints,
    rows: Ints,
    values: Numbers,
    first: int,
    last: int,
) -> Array:
    """As `overlaps_reference`, in the precision of `dense` within FEW columns, in double precision among these sums."""
    rounded = a_values.astype(dense.dtype)
    K = np.zeros((a_starts.size - 1, last - first))
    for i in range(K.shape[0]):
        for t in range(a_starts[i], a_starts[i + 1]):
            if places[t] < 0:
                column, x = -1 - places[t], a_values[t]
                for s in range(starts[column], starts[column + 1]):
                    if first <= rows[s] < last:
                        K[i, rows[s] - first] += x * (values[s] / (x + values[s]))
    for left in range(0, last - first, AT_ONCE):
        right = min(last - first, left + AT_ONCE)
        sums = np.zeros(right - left, dense.dtype)
        for i in range(K.shape[0]):
            count = 0
            for t in range(a_starts[i], a_starts[i + 1]):
                if places[t] >= 0:
                    _add_terms(sums, rounded[t], dense[places[t], first + left : first + right])
                    count += 1
                    if count % FEW == 0:
                        _empty(sums, K[i, left:right])
            _empty(sums, K[i, left:right])
    return K


@numba.njit(error_model="numpy")
def _add_terms(sums: Numbers, x: float, column: Numbers) -> None:
    """sums[w] += x z / (x + z) with z = column[w]."""
    for w in range(sums.size):
        z = column[w]
        sums[w] += x * (z / (x + z))


@numba.njit
def _empty(sums: Numbers, totals: Array) -> None:
    """Add the sums to the totals and begin anew."""
    for w in range(sums.size):
        totals[w] += sums[w]
        sums[w] = 0.0
