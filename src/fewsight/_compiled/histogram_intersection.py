"""Histogram intersection, k(x, z) = sum_d min(x_d, z_d), over all pairs of rows. [Rodner2012, eq. 4]

Rows come as the three arrays of a canonical CSR matrix: `starts` (n + 1), `dims` (sorted within a row) and `values` (> 0).
Only what is not zero costs time. Two loops compute the same numbers:

- `tiled_gram` lays a few rows out densely, side by side, and meets every other row's non-zeros with all of them at once:
  vector instructions without a gather, n * nnz steps however the zeros are spread;
- `inverted_gram` walks the columns: one scalar step for each pair of non-zeros in one column, far fewer when few coincide.

Both add the terms of one pair in the order of the dimensions, one after the other. So the result is the same to the last
bit for either loop, for x and z exchanged, and for any number of threads.
"""

from __future__ import annotations

import numba
import numpy as np
import scipy.sparse

from fewsight._base.types import Array
from fewsight._compiled._row_tiles import (
    PANEL_ROWS,
    Ints,
    clear,
    cuts,
    lay_out,
    mirror,
    panel_height,
    tile_side,
    tiles,
)
from fewsight._compiled._threads import threads_for

STEP_RATIO = (
    8  # one scalar step of `inverted_gram` takes as long as 8 lane steps of `tiled_gram` (measured: 7.7 to 9.3)
)


def gram_reference(X: Array, Z: Array) -> Array:
    """The definition, on dense rows; O(n m d) memory."""
    return np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)


def gram(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None = None) -> Array:
    """As `gram_reference`, for canonical CSR rows > 0, by the loop that takes less time; `B` None means A itself."""
    if A.shape[1] > (A if B is None else B).nnz:  # hashed bins, say: most columns are empty
        A, B = without_empty_columns(A, B)
    other = A if B is None else B
    rows = (A.indptr.astype(np.int64), A.indices, A.data)
    with threads_for(float(A.nnz) * other.shape[0]):
        if inverted_pays(A, other):
            columns = other.tocsc()
            lists = (columns.indptr.astype(np.int64), columns.indices, columns.data)
            return inverted_gram(*rows, *lists, other.shape[0], B is None)
        return tiled_gram(*rows, other.indptr.astype(np.int64), other.indices, other.data, A.shape[1], B is None)


def without_empty_columns(
    A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array | None]:
    """Both matrices on the columns that B fills, in their order: the others have nothing in common."""
    other = A if B is None else B
    filled = np.zeros(A.shape[1], dtype=bool)
    filled[other.indices] = True
    place = np.cumsum(filled) - 1
    width = int(filled.sum())
    narrow = scipy.sparse.csr_array((other.data, place[other.indices], other.indptr), shape=(other.shape[0], width))
    if B is None:
        return narrow, None
    kept = filled[A.indices]
    starts = np.concatenate([[0], np.cumsum(kept)])[A.indptr]
    return scipy.sparse.csr_array((A.data[kept], place[A.indices[kept]], starts), shape=(A.shape[0], width)), narrow


def inverted_pays(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array) -> bool:
    """Whether walking columns takes less time than meeting every non-zero of A with every row of B."""
    in_a, in_b = (np.bincount(M.indices, minlength=M.shape[1]).astype(np.float64) for M in (A, B))
    return bool(STEP_RATIO * (in_a @ in_b) < float(A.nnz) * B.shape[0])


def tiled_gram_reference(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """The definition, on CSR rows of that width. `same` promises that both are one matrix."""
    A = scipy.sparse.csr_array((a_values, a_dims, a_starts), shape=(len(a_starts) - 1, width))
    B = scipy.sparse.csr_array((b_values, b_dims, b_starts), shape=(len(b_starts) - 1, width))
    return gram_reference(A.toarray(), B.toarray())


@numba.njit(cache=True, parallel=True, error_model="numpy")
def tiled_gram(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """As `tiled_gram_reference`, in the result's memory. With `same`, half the work."""
    K = np.zeros((a_starts.size - 1, b_starts.size - 1))
    side, height = tile_side(K), panel_height(width)
    corners = tiles(K, side, same)
    a_cuts, b_cuts = cuts(a_starts, a_dims, width, height), cuts(b_starts, b_dims, width, height)
    for tile in numba.prange(len(corners)):
        top, left = corners[tile]
        bottom, right = min(K.shape[0], top + side), min(K.shape[1], left + side)
        panel = np.zeros((height, min(side, PANEL_ROWS)))
        for block in range(len(a_cuts) - 1):
            for j in range(left, right, panel.shape[1]):
                end = min(right, j + panel.shape[1])
                lay_out(panel, b_dims, b_values, block * height, b_cuts[block : block + 2, j:end])
                for i in range(max(top, j) if same else top, bottom):
                    start, stop = a_cuts[block, i], a_cuts[block + 1, i]
                    _add_minima(K[i, j:end], a_dims, a_values, start, stop, panel, block * height)
                clear(panel, b_dims, block * height, b_cuts[block : block + 2, j:end])
        if same:
            mirror(K, top, bottom, left, right)
    return K


@numba.njit(error_model="numpy")
def _add_minima(sums: Array, dims: Ints, values: Array, start: int, stop: int, panel: Array, first_dim: int) -> None:
    """sums[w] += min(values[t], panel[dims[t], w]) for t from start to stop; four t at a time spare loads and stores."""
    t, end, origin = np.uint64(start), np.uint64(stop), np.uint64(first_dim)  # unsigned: no test for negative indices
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while t + four <= end:
        x0, x1, x2, x3 = values[t], values[t + one], values[t + two], values[t + three]
        z0, z1 = panel[np.uint64(dims[t]) - origin], panel[np.uint64(dims[t + one]) - origin]
        z2, z3 = panel[np.uint64(dims[t + two]) - origin], panel[np.uint64(dims[t + three]) - origin]
        for w in range(sums.size):
            total = sums[w]
            total += x0 if x0 < z0[w] else z0[w]
            total += x1 if x1 < z1[w] else z1[w]
            total += x2 if x2 < z2[w] else z2[w]
            total += x3 if x3 < z3[w] else z3[w]
            sums[w] = total
        t += four
    while t < end:
        x0 = values[t]
        z0 = panel[np.uint64(dims[t]) - origin]
        for w in range(sums.size):
            sums[w] += x0 if x0 < z0[w] else z0[w]
        t += one


def inverted_gram_reference(
    a_starts: Ints,
    a_dims: Ints,
    a_values: Array,
    b_starts: Ints,
    b_rows: Ints,
    b_values: Array,
    n_rows: int,
    same: bool,
) -> Array:
    """The definition, on CSR rows and the CSC columns of a matrix with that many rows. `same` promises one matrix."""
    width = len(b_starts) - 1
    A = scipy.sparse.csr_array((a_values, a_dims, a_starts), shape=(len(a_starts) - 1, width))
    B = scipy.sparse.csc_array((b_values, b_rows, b_starts), shape=(n_rows, width))
    return gram_reference(A.toarray(), B.toarray())


@numba.njit(cache=True, parallel=True, error_model="numpy")
def inverted_gram(
    a_starts: Ints,
    a_dims: Ints,
    a_values: Array,
    b_starts: Ints,
    b_rows: Ints,
    b_values: Array,
    n_rows: int,
    same: bool,
) -> Array:
    """As `inverted_gram_reference`, in the result's memory. With `same`, half the work."""
    n = a_starts.size - 1
    K = np.zeros((n, n_rows))
    for pair in numba.prange((n + 1) // 2):  # a short row of the triangle with a long one: equal work for every thread
        low = np.int64(pair)
        high = n - 1 - low
        _add_row(K[low], low, a_starts, a_dims, a_values, b_starts, b_rows, b_values, same)
        if high != low:
            _add_row(K[high], high, a_starts, a_dims, a_values, b_starts, b_rows, b_values, same)
    if same:
        corners = tiles(K, PANEL_ROWS, same)
        for tile in numba.prange(len(corners)):
            top, left = corners[tile]
            mirror(K, top, min(n, top + PANEL_ROWS), left, min(n, left + PANEL_ROWS))
    return K


@numba.njit(error_model="numpy")
def _add_row(
    sums: Array,
    i: int,
    a_starts: Ints,
    a_dims: Ints,
    a_values: Array,
    b_starts: Ints,
    b_rows: Ints,
    b_values: Array,
    same: bool,
) -> None:
    """Row i of the result (up to the diagonal with `same`), from the columns in which row i is not zero."""
    one = np.uint64(1)
    for t in range(a_starts[i], a_starts[i + 1]):
        x = a_values[t]
        s, end = np.uint64(b_starts[a_dims[t]]), np.uint64(b_starts[a_dims[t] + 1])
        if same:
            end = s + np.uint64(np.searchsorted(b_rows[s:end], i, side="right"))
        while s < end:
            z = b_values[s]
            sums[np.uint64(b_rows[s])] += x if x < z else z
            s += one
