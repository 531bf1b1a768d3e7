"""Bookkeeping that the loops over pairs of sparse rows share: square tiles of the result, panels of rows laid out densely.

Rows are the three arrays of a canonical CSR matrix: `starts` (n + 1), `dims` (sorted within a row), `values`. A panel holds
a block of dimensions of a few rows side by side, one row in each of its columns, so that it stays in the cache.

numba's cache watches the file of the calling loop only: after a change here, delete the `__pycache__` beside it.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array

Ints = npt.NDArray[Any]

PANEL_ROWS = 128  # with PANEL_DIMS dimensions of 8 bytes a panel fills half a megabyte
PANEL_DIMS = 512
MOST_BLOCKS = 64  # a very wide matrix gets taller panels, so that the table of cuts stays small


@numba.njit
def panel_height(width: int) -> int:
    """How many dimensions one panel holds."""
    return max(1, min(width, max(PANEL_DIMS, -(-width // MOST_BLOCKS))))


@numba.njit
def tile_side(K: Array) -> int:
    """Rows and columns of one piece of work: a small result is cut finer, so that every thread has some."""
    return 256 if min(K.shape) >= 2048 else 128 if max(K.shape) >= 512 else 64


@numba.njit
def tiles(K: Array, side: int, same: bool) -> Ints:
    """First row and column of every square that covers K, or its lower triangle."""
    corners = np.empty((-(-K.shape[0] // side) * -(-K.shape[1] // side), 2), np.int64)
    count = 0
    for top in range(0, K.shape[0], side):
        for left in range(0, min(top + 1, K.shape[1]) if same else K.shape[1], side):
            corners[count, 0], corners[count, 1] = top, left
            count += 1
    return corners[:count]


@numba.njit
def cuts(starts: Ints, dims: Ints, width: int, height: int) -> Ints:
    """Where, in each row (the second axis), each block of `height` dimensions begins (the first axis)."""
    n_blocks = -(-width // height)
    places = np.empty((n_blocks + 1, starts.size - 1), np.int64)
    for i in range(starts.size - 1):
        t = starts[i]
        for block in range(n_blocks + 1):
            while t < starts[i + 1] and dims[t] < block * height:
                t += 1
            places[block, i] = t
    return places


@numba.njit
def lay_out(panel: Array, dims: Ints, values: Array, first_dim: int, ends: Ints) -> None:
    """Write one block of some rows into the columns of a panel of zeros; `ends` are the rows' two cuts around it."""
    for w in range(ends.shape[1]):
        for t in range(ends[0, w], ends[1, w]):
            panel[dims[t] - first_dim, w] = values[t]


@numba.njit
def clear(panel: Array, dims: Ints, first_dim: int, ends: Ints) -> None:
    """Zero what `lay_out` wrote, which is less than the whole panel."""
    for w in range(ends.shape[1]):
        for t in range(ends[0, w], ends[1, w]):
            panel[dims[t] - first_dim, w] = 0.0


@numba.njit
def mirror(K: Array, top: int, bottom: int, left: int, right: int) -> None:
    """Copy a tile's part of the lower triangle to the upper one."""
    for i in range(top, bottom):
        for j in range(left, min(right, i)):
            K[j, i] = K[i, j]
