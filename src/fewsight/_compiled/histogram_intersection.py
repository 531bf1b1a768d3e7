"""Histogram intersection, k(x, z) = sum_d min(x_d, z_d), over all pairs of rows. [Rodner2012, eq. 4]

Rows come as the three arrays of a canonical CSR matrix: `starts` (n + 1), `dims` (sorted within a row) and `values` (> 0).
Only what is not zero costs time. Two loops compute the same numbers:

- `tiled_gram` lays a few rows out densely, side by side, and meets every other row's non-zeros with all of them at once:
  vector instructions without a gather, n * nnz steps however the zeros are spread;
- `inverted_gram` walks the columns: one scalar step for each pair of non-zeros in one column, far fewer when few coincide.
  For this a few rows' non-zeros are listed column by column: they are read in one go, and sums are in a tile in the cache.

Hashed bins are of both kinds: a thousand columns that most rows fill, and hundreds of thousands that few do. Where that saves
much time, the first loop takes the common columns and the second the rest; else one of them takes all.

Each loop adds the terms of one pair in the order of the dimensions, one after the other, and which columns are common does not
depend on the order of x and z. So the result is the same to the last bit for x and z exchanged, for `gram(A)` and
`gram(A, A)`, and for any number of threads; and for either loop. Among other rows other columns may be common: the last bits of
a pair's sum may then differ.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._loops import threads_for
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

# One scalar step of `inverted_gram` takes as long as 8 lane steps of `tiled_gram` (measured: 7.7 to 9.3).
STEP_RATIO = 8
LISTED_ROWS = 256  # a tile of this many rows and columns fills half a megabyte
# Both loops take part if they promise to be this many times faster than one alone: there is a price in sorting columns.
WORTH_DIVIDING = 1.25


def gram_reference(X: Array, Z: Array) -> Array:
    """The definition, on dense rows; O(n m d) memory."""
    return np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)


def gram(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None = None) -> Array:
    """As `gram_reference`, for canonical CSR rows > 0, by the loops that take least time; `B` None means A itself.

    Rows of float32 have sums of float32, in two thirds of the time.
    """
    if A.shape[1] > (A if B is None else B).nnz:  # hashed bins, say: most columns are empty
        A, B = without_empty_columns(A, B)
    other = A if B is None else B
    common = common_columns(A, other)
    with threads_for(float(A.nnz) * other.shape[0]):
        if common.all():
            return _tiled(A, B)
        K = np.zeros((A.shape[0], other.shape[0]), A.dtype)
        if common.any():
            K = _tiled(with_columns(A, common), None if B is None else with_columns(B, common))
        lists = by_column(A, ~common)
        return inverted_gram(K, *lists, *(lists if B is None else by_column(B, ~common)), B is None)


def _tiled(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None) -> Array:
    return tiled_gram(*_arrays(A), *_arrays(A if B is None else B), A.shape[1], B is None)


def _arrays(M: scipy.sparse.csr_array) -> tuple[Ints, Ints, Array]:
    return M.indptr.astype(np.int64), M.indices, M.data


def without_empty_columns(
    A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array | None]:
    """Both matrices on the columns that B fills, in their order: the others have nothing in common."""
    filled = np.zeros(A.shape[1], dtype=bool)
    filled[(A if B is None else B).indices] = True
    return with_columns(A, filled), None if B is None else with_columns(B, filled)


def with_columns(M: scipy.sparse.csr_array, chosen: npt.NDArray[np.bool_]) -> scipy.sparse.csr_array:
    """The matrix on the chosen columns, in their order; its values are not copied if they are all there."""
    place = np.cumsum(chosen, dtype=M.indices.dtype) - M.indices.dtype.type(1)
    shape = (M.shape[0], int(chosen.sum()))
    kept = chosen[M.indices]
    if kept.all():
        return scipy.sparse.csr_array((M.data, place[M.indices], M.indptr), shape=shape)
    kept = np.flatnonzero(kept)
    return scipy.sparse.csr_array((M.data[kept], place[M.indices[kept]], np.searchsorted(kept, M.indptr)), shape=shape)


def by_column(M: scipy.sparse.csr_array, chosen: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Array]:
    """The non-zeros in the chosen columns, as `inverted_gram` reads them: for each LISTED_ROWS rows one list, in the order of
    columns and within a column of rows. Returns where lists start (n_lists + 1), and each entry's column, row and value.
    """
    dims, rows, values = np.empty(M.nnz, M.indices.dtype), np.empty(M.nnz, np.int32), np.empty(M.nnz, M.dtype)
    starts = [0]
    for top in range(0, M.shape[0], LISTED_ROWS):
        few = M[top : top + LISTED_ROWS].tocsc()
        columns = np.repeat(np.arange(M.shape[1], dtype=dims.dtype), np.diff(few.indptr))
        kept = np.flatnonzero(chosen[columns])
        here = slice(starts[-1], starts[-1] + len(kept))
        dims[here], rows[here], values[here] = columns[kept], few.indices[kept] + top, few.data[kept]
        starts.append(here.stop)
    return np.array(starts), dims[: starts[-1]], rows[: starts[-1]], values[: starts[-1]]


def common_columns(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array) -> npt.NDArray[np.bool_]:
    """The columns for `tiled_gram`: all, none, or those that many rows fill, whichever takes least time.

    A column that c of n rows fill takes c * n lane steps in `tiled_gram` and c * c scalar ones in `inverted_gram`. Rows of
    both matrices count alike, so that their order does not matter.
    """
    in_a = np.bincount(A.indices, minlength=A.shape[1])
    filled = np.add(in_a, in_a if B is A else np.bincount(B.indices, minlength=B.shape[1]), dtype=np.float64)
    tiled, inverted = filled * (A.shape[0] + B.shape[0]), STEP_RATIO * filled * filled
    if np.minimum(tiled, inverted).sum() * WORTH_DIVIDING < min(tiled.sum(), inverted.sum()):
        return inverted > tiled
    return np.full(A.shape[1], bool(tiled.sum() <= inverted.sum()))


def tiled_gram_reference(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """The definition, on CSR rows of that width. `same` promises that both are one matrix."""
    A = scipy.sparse.csr_array((a_values, a_dims, a_starts), shape=(len(a_starts) - 1, width))
    B = scipy.sparse.csr_array((b_values, b_dims, b_starts), shape=(len(b_starts) - 1, width))
    return gram_reference(A.toarray(), B.toarray())


@compiled(parallel=True, error_model="numpy")
def tiled_gram(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """As `tiled_gram_reference`, in the result's memory. With `same`, half the work."""
    K = np.zeros((a_starts.size - 1, b_starts.size - 1), a_values.dtype)
    side, height = tile_side(K), panel_height(width)
    corners = tiles(K, side, same)
    a_cuts, b_cuts = cuts(a_starts, a_dims, width, height), cuts(b_starts, b_dims, width, height)
    for tile in numba.prange(len(corners)):
        top, left = corners[tile]
        bottom, right = min(K.shape[0], top + side), min(K.shape[1], left + side)
        panel = np.zeros((height, min(side, PANEL_ROWS)), a_values.dtype)
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
    K: Array,
    a_starts: Ints,
    a_dims: Ints,
    a_rows: Ints,
    a_values: Array,
    b_starts: Ints,
    b_dims: Ints,
    b_rows: Ints,
    b_values: Array,
    same: bool,
) -> Array:
    """K plus the definition, on lists as `by_column` makes them. `same` promises that both are one, and K symmetric."""
    width = 1 + max(a_dims.max(initial=0), b_dims.max(initial=0))
    A, B = np.zeros((K.shape[0], width)), np.zeros((K.shape[1], width))
    A[a_rows, a_dims], B[b_rows, b_dims] = a_values, b_values
    return K + gram_reference(A, B)


@compiled(parallel=True, error_model="numpy")
def inverted_gram(
    K: Array,
    a_starts: Ints,
    a_dims: Ints,
    a_rows: Ints,
    a_values: Array,
    b_starts: Ints,
    b_dims: Ints,
    b_rows: Ints,
    b_values: Array,
    same: bool,
) -> Array:
    """As `inverted_gram_reference`, in the memory of K, which it changes. With `same`, half the work."""
    corners = tiles(K, LISTED_ROWS, same)
    for tile in numba.prange(len(corners)):
        top, left = corners[tile]
        i, j = top // LISTED_ROWS, left // LISTED_ROWS
        a, b = slice(a_starts[i], a_starts[i + 1]), slice(b_starts[j], b_starts[j + 1])
        _add_lists(K, a_dims[a], a_rows[a], a_values[a], b_dims[b], b_rows[b], b_values[b])
        if same:
            mirror(K, top, min(K.shape[0], top + LISTED_ROWS), left, min(K.shape[0], left + LISTED_ROWS))
    return K


@numba.njit(error_model="numpy")
def _add_lists(
    K: Array, a_dims: Ints, a_rows: Ints, a_values: Array, b_dims: Ints, b_rows: Ints, b_values: Array
) -> None:
    """What the entries of two lists have in common, column by column: both are read once, as when sorted lists are merged."""
    s, t = 0, 0
    while s < a_dims.size and t < b_dims.size:
        if a_dims[s] < b_dims[t]:
            s += 1
        elif a_dims[s] > b_dims[t]:
            t += 1
        else:
            column, end = a_dims[s], t
            while end < b_dims.size and b_dims[end] == column:
                end += 1
            while s < a_dims.size and a_dims[s] == column:
                _add_entries(K[a_rows[s]], a_values[s], b_rows[t:end], b_values[t:end])
                s += 1
            t = end


@numba.njit(error_model="numpy")
def _add_entries(sums: Array, x: float, rows: Ints, values: Array) -> None:
    """sums[row] += min(x, value) for all entries of one column."""
    for t in range(rows.size):
        z = values[t]
        sums[np.uint64(rows[t])] += x if x < z else z  # unsigned: no test for negative indices
