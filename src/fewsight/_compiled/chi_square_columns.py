"""Chi-square distance of a few rows to many that were laid out column by column beforehand, in double or single precision.

As in `chi_square`, only sum_d x_d z_d / (x_d + z_d) needs pairs, and only in the columns that x fills. The columns that many of
the m rows fill are laid out densely, one after the other, so that a column is read in one go and divided lane by lane; of the
others the non-zeros are listed (which row, which value). In single precision half as much is read and twice as many numbers
are divided at once: with a thousand columns of ten thousand rows, that decides the time. Terms of FEW columns are then added in
single precision, these sums in double: distances are off by about 1e-8 of the largest row sum.

Reading takes most of the time if long pieces of several columns are read side by side, so four columns are taken at a time. Their
terms come to one denominator: one division serves four. So that products of five numbers stay in range, numbers are stored in
units near their mean, and an asked number below `least` units counts as that many; where one is above `most` units, columns are
taken one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

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
AT_ONCE = 4_096  # rows whose sums are in the nearest cache
FEW = 16
NEAR = 2**18  # bytes of columns that stay in a cache while several rows are compared with them
LAID_OUT_AT_ONCE = 512  # rows, without zeros at first, so that there is no second matrix
LEAST = {np.dtype(np.float32): 1e-8, np.dtype(np.float64): 1e-50}  # units, see above
MOST = {np.dtype(np.float32): 1e7, np.dtype(np.float64): 1e50}


@final
@dataclass(frozen=True, eq=False)
class ChiSquareColumns:
    """m canonical CSR rows > 0 by columns: `place` says where a column is, counting from the last where it is listed.

    Numbers are in units of `unit`, a power of two, so that nothing is rounded by it.
    """

    place: Ints  # (d,): number of the dense column, or -1 - number of the list
    dense: Numbers  # (k, m)
    starts: Ints  # (l + 1,), of the lists
    rows: Ints
    values: Numbers
    sums: Array  # (m,), of the rows, as they were given
    unit: float
    moderate: bool  # whether no number is above MOST units

    @classmethod
    def of(cls, M: scipy.sparse.csr_array, precision: type[np.float32] | type[np.float64] = np.float64) -> Self:
        """Rows laid out; empty columns are lists of nothing."""
        counts = np.bincount(M.indices, minlength=M.shape[1])
        is_dense = counts > DENSE_SHARE * M.shape[0]
        place = np.where(is_dense, np.cumsum(is_dense) - 1, -np.cumsum(~is_dense))
        unit = _unit(M.data)
        listed = M[:, ~is_dense].tocsc()
        dense = np.empty((int(is_dense.sum()), M.shape[0]), precision)
        for start in range(0, M.shape[0], LAID_OUT_AT_ONCE):
            some = slice(start, start + LAID_OUT_AT_ONCE)
            dense[:, some] = M[some][:, is_dense].toarray().T / unit
        starts, rows = listed.indptr.astype(np.int64), listed.indices.astype(np.int32)
        sums = np.asarray(M.sum(axis=1), dtype=np.float64).ravel()
        values = (listed.data / unit).astype(precision)
        return cls(place, dense, starts, rows, values, sums, unit, _moderate(M.data / unit, dense.dtype))

    def distances(self, A: scipy.sparse.csr_array) -> Array:
        """Of canonical CSR rows > 0 to all rows that were laid out (n, m)."""
        m, (starts, places) = len(self.sums), (A.indptr.astype(np.int64), self.place[A.indices])
        ends = np.minimum(np.arange(0, m + AT_ONCE, AT_ONCE), m)
        lists, asked = (self.starts, self.rows, self.values), A.data / self.unit
        fours = self.moderate and _moderate(asked, self.dense.dtype)
        if fours:
            asked = np.maximum(asked, LEAST[self.dense.dtype])

        def share(first: int, last: int) -> Array:
            return overlaps(starts, places, asked, self.dense, *lists, int(ends[first]), int(ends[last]), fours)

        found = np.hstack(in_shares(share, float(A.nnz) * ends))
        found *= -4.0 * self.unit
        found += np.asarray(A.sum(axis=1)).reshape(-1, 1) + self.sums
        return np.maximum(found, 0.0, out=found)


def _unit(values: Numbers) -> float:
    """The power of two next to their mean, as far as there is one."""
    mean = float(values.mean()) if values.size else 1.0
    return float(2.0 ** np.clip(np.round(np.log2(mean)), -1_000, 1_000)) if 0.0 < mean < np.inf else 1.0


def _moderate(values: Numbers, precision: np.dtype[Any]) -> bool:
    return bool(values.max(initial=0.0) <= MOST[precision])


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
    fours: bool = True,
) -> Array:
    """The definition: sum_d x_d z_d / (x_d + z_d) of rows x, whose numbers are at `places`, with some of the m.

    `fours` is about speed alone.
    """
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
    fours: bool = True,
) -> Array:
    """As `overlaps_reference`, in the precision of `dense` within FEW columns, in double precision among these sums.

    With `fours` numbers of x are at least LEAST, and no number is above MOST.
    """
    rounded = a_values.astype(dense.dtype)
    K = np.zeros((a_starts.size - 1, last - first))
    for i in range(K.shape[0]):
        for t in range(a_starts[i], a_starts[i + 1]):
            if places[t] < 0:
                column, x = -1 - places[t], a_values[t]
                for s in range(starts[column], starts[column + 1]):
                    if first <= rows[s] < last:
                        K[i, rows[s] - first] += x * (values[s] / (x + values[s]))
    held = np.empty(4, np.int64)  # terms that wait for others
    for left in range(first, last, AT_ONCE):
        right = min(last, left + AT_ONCE)
        sums, totals, at = np.zeros(right - left, dense.dtype), K[:, left - first : right - first], a_starts[:-1].copy()
        step = max(FEW, NEAR // (dense.itemsize * sums.size)) if K.shape[0] > 1 else max(1, dense.shape[0])
        for end in range(step, dense.shape[0] + step, step):  # all rows of x with some columns, while these are near
            for i in range(K.shape[0]):
                t, count, waiting = at[i], 0, 0
                while t < a_starts[i + 1] and places[t] < end:
                    if places[t] >= 0:
                        held[waiting] = t
                        waiting, count = waiting + 1, count + 1
                        if not fours:
                            _add_terms(sums, dense, left, rounded[t], places[t])
                            waiting = 0
                        elif waiting == 4:
                            _add_four(sums, dense, left, rounded, places, held)
                            waiting = 0
                        if count % FEW == 0:
                            _empty(sums, totals[i])
                    t += 1
                for h in range(waiting):
                    _add_terms(sums, dense, left, rounded[held[h]], places[held[h]])
                _empty(sums, totals[i])
                at[i] = t
    return K


@numba.njit(error_model="numpy")
def _add_four(sums: Numbers, dense: Numbers, left: int, numbers: Numbers, places: Ints, held: Ints) -> None:
    """sums[w] += four terms with what their columns have at left + w, over one denominator.

    Columns are not cut out: with few sums that would take longer than adding.
    """
    x, y, p, q = numbers[held[0]], numbers[held[1]], numbers[held[2]], numbers[held[3]]
    s, t, u, v = places[held[0]], places[held[1]], places[held[2]], places[held[3]]
    for w in range(sums.size):
        at = np.uintp(left) + np.uintp(w)  # not negative for certain, or lanes would not be filled
        xs, ys, ps, qs = dense[s, at], dense[t, at], dense[u, at], dense[v, at]
        a, b, c, d = x + xs, y + ys, p + ps, q + qs
        ab, cd = a * b, c * d
        sums[w] += ((x * xs * b + y * ys * a) * cd + (p * ps * d + q * qs * c) * ab) / (ab * cd)


@numba.njit(error_model="numpy")
def _add_terms(sums: Numbers, dense: Numbers, left: int, x: float, column: int) -> None:
    """sums[w] += x z / (x + z) with z = what a column has at left + w."""
    for w in range(sums.size):
        z = dense[column, np.uintp(left) + np.uintp(w)]
        sums[w] += x * (z / (x + z))


@numba.njit
def _empty(sums: Numbers, totals: Array) -> None:
    """Add the sums to the totals and begin anew."""
    for w in range(sums.size):
        totals[w] += sums[w]
        sums[w] = 0.0
