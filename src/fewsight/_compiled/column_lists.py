"""Histogram intersection of one row with many that were listed column by column beforehand.

What two rows share lies in the columns that both fill. With the non-zeros of m rows listed column by column (which row, which
value), a row x meets those lists alone whose columns it fills: one step for each pair of non-zeros that coincide, read in one go,
and sums of m numbers in the cache. [Rodner2012, eq. 4]
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from fewsight._base.types import Array
from fewsight._compiled import histogram_intersection
from fewsight._compiled._caching import compiled
from fewsight._compiled._row_tiles import Ints


def lists_of(M: scipy.sparse.csr_array) -> tuple[Ints, Ints, Ints, Array]:
    """The columns that canonical CSR rows fill (k,), where each one's list starts (k + 1), and each entry's row and value."""
    filled = np.zeros(M.shape[1], dtype=bool)
    filled[M.indices] = True
    listed = histogram_intersection.with_columns(M, filled).tocsc()
    rows = listed.indices.astype(np.int32 if M.shape[0] < 2**31 else np.int64)
    return np.flatnonzero(filled), listed.indptr.astype(np.int64), rows, listed.data


def minima_reference(lists: Ints, values: Array, starts: Ints, rows: Ints, listed: Array, m: int) -> Array:
    """The definition: one row's values in some lists, and what they share with each of m rows (m,)."""
    width = len(starts) - 1
    row, others = np.zeros((1, width)), np.zeros((m, width))
    row[0, lists] = values
    others[rows, np.repeat(np.arange(width), np.diff(starts))] = listed
    return histogram_intersection.gram_reference(row, others)[0]


@compiled(nogil=True, error_model="numpy")
def minima(lists: Ints, values: Array, starts: Ints, rows: Ints, listed: Array, m: int) -> Array:
    """As `minima_reference`, in the result's memory. Terms are added in the order of the columns."""
    sums = np.zeros(m)
    for t in range(lists.size):
        x = values[t]
        for s in range(starts[lists[t]], starts[lists[t] + 1]):
            z = listed[s]
            sums[np.uint64(rows[s])] += x if x < z else z  # unsigned: no test for negative indices
    return sums
