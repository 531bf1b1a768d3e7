"""Chi-square distance, sum_d (x_d - z_d)^2 / (x_d + z_d) with 0 / 0 = 0, over all pairs of rows.

(x - z)^2 / (x + z) = x + z - 4 x z / (x + z): the two row sums need no pairs, and the last term vanishes where either is
zero. Rows are canonical CSR with values > 0, met as in `histogram_intersection.tiled_gram`: a few rows laid out densely
against every other row's non-zeros. (Walking columns instead gains little, because the division decides the time.)
Terms are added in the order of the dimensions, so that equal rows are at distance 0 exactly, and the result depends
neither on the order of x and z nor on the number of threads.
"""

from __future__ import annotations

import numba
import numpy as np
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


def distances_reference(X: Array, Z: Array) -> Array:
    """The definition, on dense rows; O(n m d) memory."""
    total = X[:, None, :] + Z[None, :, :]
    squared = (X[:, None, :] - Z[None, :, :]) ** 2
    return np.divide(squared, total, out=np.zeros_like(total), where=total > 0).sum(axis=2)


def distances(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None = None) -> Array:
    """As `distances_reference`, for canonical CSR rows > 0, in the result's memory; `B` None means A itself."""
    other = A if B is None else B
    rows, others = ((M.indptr.astype(np.int64), M.indices, M.data) for M in (A, other))
    with threads_for(float(A.nnz) * other.shape[0]):
        return tiled_distances(*rows, *others, A.shape[1], B is None)


def tiled_distances_reference(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """The definition, on CSR rows of that width. `same` promises that both are one matrix."""
    A = scipy.sparse.csr_array((a_values, a_dims, a_starts), shape=(len(a_starts) - 1, width))
    B = scipy.sparse.csr_array((b_values, b_dims, b_starts), shape=(len(b_starts) - 1, width))
    return distances_reference(A.toarray(), B.toarray())


@compiled(parallel=True, error_model="numpy")
def tiled_distances(
    a_starts: Ints, a_dims: Ints, a_values: Array, b_starts: Ints, b_dims: Ints, b_values: Array, width: int, same: bool
) -> Array:
    """As `tiled_distances_reference`, in the result's memory. With `same`, half the work."""
    K = np.zeros((a_starts.size - 1, b_starts.size - 1))
    side, height = tile_side(K), panel_height(width)
    corners = tiles(K, side, same)
    a_cuts, b_cuts = cuts(a_starts, a_dims, width, height), cuts(b_starts, b_dims, width, height)
    a_sums, b_sums = _row_sums(a_starts, a_values), _row_sums(b_starts, b_values)
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
                    _add_overlaps(K[i, j:end], a_dims, a_values, start, stop, panel, block * height)
                clear(panel, b_dims, block * height, b_cuts[block : block + 2, j:end])
        for i in range(top, bottom):
            for j in range(left, right):
                K[i, j] = max(0.0, a_sums[i] + b_sums[j] - 4.0 * K[i, j])
        if same:
            mirror(K, top, bottom, left, right)
    return K


@numba.njit(error_model="numpy")
def _add_overlaps(sums: Array, dims: Ints, values: Array, start: int, stop: int, panel: Array, first_dim: int) -> None:
    """sums[w] += x z / (x + z) with x = values[t] > 0 and z = panel[dims[t], w], for t from start to stop."""
    for t in range(np.uint64(start), np.uint64(stop)):  # unsigned: no test for negative indices
        x, row = values[t], panel[np.uint64(dims[t]) - np.uint64(first_dim)]
        for w in range(sums.size):
            z = row[w]
            small, large = (x, z) if x < z else (z, x)
            sums[w] += small * (
                large / (x + z)
            )  # in this order nothing overflows or vanishes, and x, z may change places


@numba.njit
def _row_sums(starts: Ints, values: Array) -> Array:
    """Sums in the order of the dimensions, as `_add_overlaps` adds them: what must cancel cancels to the last bit."""
    sums = np.zeros(starts.size - 1)
    for i in range(sums.size):
        for t in range(starts[i], starts[i + 1]):
            sums[i] += values[t]
    return sums
