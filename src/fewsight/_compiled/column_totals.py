"""For each dimension the sum of numbers over the rows that have it, from the rows' side, where it needs no jumps.

`row_starts` and `dims` list the dimensions of each row's non-zeros. Loops over rows take those from `first` to `last`.
"""

from __future__ import annotations

import functools

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import LANES, add, blocks, load, padded, store
from fewsight._compiled._threads import summed
from fewsight._compiled.sorted_columns import Ints


def column_totals_reference(row_starts: Ints, dims: Ints, width: int, V: Array) -> Array:
    """The definition: for each dimension (of `width`) and column the sum of V over the rows that have it."""
    totals = np.zeros((width, V.shape[1]))
    np.add.at(totals, dims, np.repeat(V, np.diff(row_starts), axis=0))
    return totals


def column_totals(row_starts: Ints, dims: Ints, width: int, V: Array) -> Array:
    """As `column_totals_reference`, eight columns at a time."""
    result = np.empty((width, V.shape[1]))
    for some in blocks(V):
        numbers = padded(V[:, some])
        loop = totals_of_one if numbers.shape[1] == 1 else totals_of_lanes
        whole = summed(functools.partial(loop, row_starts, dims, width, numbers), np.diff(row_starts))
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def totals_of_one_reference(row_starts: Ints, dims: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """The definition, for one column and some of the rows."""
    here = slice(row_starts[first], row_starts[last])
    return column_totals_reference(row_starts[first : last + 1], dims[here], width, V[first:last])


@compiled(nogil=True, error_model="numpy")
def totals_of_one(row_starts: Ints, dims: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """As `totals_of_one_reference`."""
    totals = np.zeros((width, 1))
    sums = totals.reshape(-1)
    for i in range(first, last):
        number = V[i, 0]
        for t in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])):  # unsigned: no test for negative places
            sums[np.uint64(dims[t])] += number
    return totals


def totals_of_lanes_reference(row_starts: Ints, dims: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """The definition, for LANES columns and some of the rows."""
    return totals_of_one_reference(row_starts, dims, width, V, first, last)


@compiled(nogil=True, error_model="numpy")
def totals_of_lanes(row_starts: Ints, dims: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """As `totals_of_lanes_reference`."""
    totals = np.zeros((width, LANES))
    sums, flat = totals.reshape(-1), V.reshape(-1)
    for i in range(first, last):
        numbers = load(flat, np.uint64(i) * np.uint64(LANES))
        for t in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])):
            place = np.uint64(dims[t]) * np.uint64(LANES)
            store(sums, place, add(load(sums, place), numbers))
    return totals
