"""K V for the histogram intersection kernel without the matrix K, in one sweep over the sorted non-zeros. [Rodner2012, eq. 6]

In one dimension, with values in ascending order, (K v)_i = sum_{j <= i} v_j x_j + x_i sum_{j > i} v_j. Going upwards the first sum
grows and the second shrinks, so each non-zero takes one step and no table is kept; what the second sum starts from, the sum
of v over the rows that have the dimension, comes from the rows' side, where it needs no jumps. Zeros add nothing.

v and the result of a row stand side by side, because both are met at once and in any order: one line of the cache instead
of two. With eight right-hand sides all steps are on eight numbers (`_lanes`). Threads take some dimensions each and have
results of their own, added up in a fixed order.

`starts`, `rows`, `values` are sorted columns (`sorted_columns`), `row_starts` and `dims` the dimensions of each row's non-zeros,
`weights` one factor for each dimension.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import LANES, add, fill, load, multiply, multiply_add, store, subtract
from fewsight._compiled._shares import shares
from fewsight._compiled._threads import threads_for

Ints = npt.NDArray[Any]


def product_reference(
    starts: Ints, rows: Ints, values: Array, row_starts: Ints, dims: Ints, weights: Array, V: Array
) -> Array:
    """The definition, one dimension after the other; O(n^2) memory."""
    result = np.zeros_like(V)
    for d in range(len(starts) - 1):
        here = slice(starts[d], starts[d + 1])
        K = np.minimum(values[here, None], values[None, here])
        result[rows[here]] += weights[d] * (K @ V[rows[here]])
    return result


def product(starts: Ints, rows: Ints, values: Array, row_starts: Ints, dims: Ints, weights: Array, V: Array) -> Array:
    """As `product_reference`, eight columns of V at a time."""
    result = np.empty(V.shape)
    columns = (starts, rows, values, row_starts, dims, weights)
    for left in range(0, V.shape[1], LANES):
        block = V[:, left : left + LANES]
        with threads_for(float(len(values)) * block.shape[1]):
            cuts = shares(starts), shares(row_starts)
            if block.shape[1] == 1:
                result[:, left] = product_of_one(*columns, *cuts, np.ascontiguousarray(block[:, 0]))
            else:
                whole = product_of_lanes(*columns, *cuts, padded(block))
                result[:, left : left + LANES] = whole[:, : block.shape[1]]
    return result


def column_totals(row_starts: Ints, dims: Ints, V: Array, width: int) -> Array:
    """For each dimension (of `width`) and column the sum of V over the rows that have it."""
    result = np.empty((width, V.shape[1]))
    for left in range(0, V.shape[1], LANES):
        some = slice(left, left + LANES)
        with threads_for(float(len(dims)) * LANES):
            whole = totals_of_lanes(row_starts, dims, shares(row_starts), padded(V[:, some]), width)
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def padded(block: Array) -> Array:
    """The columns with columns of zeros, so that there are LANES of them."""
    whole = np.zeros((len(block), LANES))
    whole[:, : block.shape[1]] = block
    return whole


def product_of_one_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    weights: Array,
    dim_cuts: Ints,
    row_cuts: Ints,
    v: Array,
) -> Array:
    """The definition, for one column. The cuts say which dimensions and rows each thread takes."""
    return product_reference(starts, rows, values, row_starts, dims, weights, v[:, None])[:, 0]


@compiled(parallel=True, error_model="numpy")
def product_of_one(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    weights: Array,
    dim_cuts: Ints,
    row_cuts: Ints,
    v: Array,
) -> Array:
    """As `product_of_one_reference`, in time proportional to the non-zeros."""
    parts = dim_cuts.size - 1
    partial = np.zeros((parts, weights.size))
    for part in numba.prange(parts):
        _add_totals(partial[part], v, row_starts, dims, row_cuts[part], row_cuts[part + 1])
    totals = partial.sum(axis=0)
    tables = np.empty((parts, 2 * v.size))
    for part in numba.prange(parts):
        table = tables[part]
        for i in range(v.size):
            table[2 * i], table[2 * i + 1] = v[i], 0.0
        for d in range(dim_cuts[part], dim_cuts[part + 1]):
            _sweep(table, rows, values, starts[d], starts[d + 1], weights[d], totals[d])
    return tables.sum(axis=0)[1::2].copy()


@numba.njit(error_model="numpy")
def _add_totals(totals: Array, v: Array, row_starts: Ints, dims: Ints, top: int, bottom: int) -> None:
    for i in range(top, bottom):
        number = v[i]
        for t in range(
            np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])
        ):  # unsigned: no test for negative indices
            totals[np.uint64(dims[t])] += number


@numba.njit(error_model="numpy")
def _sweep(table: Array, rows: Ints, values: Array, start: int, stop: int, weight: float, total: float) -> None:
    below, above = 0.0, total
    for t in range(np.uint64(start), np.uint64(stop)):
        x, place = weight * values[t], np.uint64(rows[t]) * np.uint64(2)
        number = table[place]
        below += x * number
        above -= number
        table[place + np.uint64(1)] += below + x * above


def product_of_lanes_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    weights: Array,
    dim_cuts: Ints,
    row_cuts: Ints,
    V: Array,
) -> Array:
    """The definition, for LANES columns. The cuts say which dimensions and rows each thread takes."""
    return product_reference(starts, rows, values, row_starts, dims, weights, V)


@compiled(parallel=True, error_model="numpy")
def product_of_lanes(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    weights: Array,
    dim_cuts: Ints,
    row_cuts: Ints,
    V: Array,
) -> Array:
    """As `product_of_lanes_reference`, in time proportional to the non-zeros."""
    parts, n = dim_cuts.size - 1, V.shape[0]
    totals = totals_of_lanes(row_starts, dims, row_cuts, V, weights.size).reshape(-1)
    tables = np.empty((parts, n, 2 * LANES))
    for part in numba.prange(parts):
        tables[part, :, :LANES], tables[part, :, LANES:] = V, 0.0
        table = tables[part].reshape(-1)
        for d in range(dim_cuts[part], dim_cuts[part + 1]):
            _sweep_lanes(table, rows, values, starts[d], starts[d + 1], weights[d], totals, d)
    return tables.sum(axis=0)[:, LANES:].copy()


def totals_of_lanes_reference(row_starts: Ints, dims: Ints, row_cuts: Ints, V: Array, width: int) -> Array:
    """The definition: for each dimension and each of LANES columns the sum of V over the rows that have it."""
    totals = np.zeros((width, V.shape[1]))
    np.add.at(totals, dims, np.repeat(V, np.diff(row_starts), axis=0))
    return totals


@compiled(parallel=True, error_model="numpy")
def totals_of_lanes(row_starts: Ints, dims: Ints, row_cuts: Ints, V: Array, width: int) -> Array:
    """As `totals_of_lanes_reference`. The cuts say which rows each thread takes."""
    parts = row_cuts.size - 1
    partial = np.zeros((parts, width * LANES))
    for part in numba.prange(parts):
        totals, flat = partial[part], V.reshape(-1)
        for i in range(row_cuts[part], row_cuts[part + 1]):
            numbers = load(flat, np.uint64(i) * np.uint64(LANES))
            for t in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])):
                place = np.uint64(dims[t]) * np.uint64(LANES)
                store(totals, place, add(load(totals, place), numbers))
    return partial.sum(axis=0).reshape((width, LANES))


@numba.njit(error_model="numpy")
def _sweep_lanes(
    table: Array, rows: Ints, values: Array, start: int, stop: int, weight: float, totals: Array, d: int
) -> None:
    below, above = fill(0.0), load(totals, np.uint64(d) * np.uint64(LANES))
    for t in range(np.uint64(start), np.uint64(stop)):
        x, place = weight * values[t], np.uint64(rows[t]) * np.uint64(2 * LANES)
        result = place + np.uint64(LANES)
        numbers = load(table, place)
        below = multiply_add(x, numbers, below)
        above = subtract(above, numbers)
        store(table, result, add(load(table, result), multiply_add(x, above, below)))


def inners_reference(
    starts: Ints, rows: Ints, values: Array, row_starts: Ints, dims: Ints, U: Array, V: Array
) -> Array:
    """The definition: for each dimension, without its weight, the trace of U^T K_d V."""
    result = np.zeros(len(starts) - 1)
    for d in range(len(result)):
        here = slice(starts[d], starts[d + 1])
        K = np.minimum(values[here, None], values[None, here])
        result[d] = np.sum(U[rows[here]] * (K @ V[rows[here]]))
    return result


def inners(starts: Ints, rows: Ints, values: Array, row_starts: Ints, dims: Ints, U: Array, V: Array) -> Array:
    """As `inners_reference`, eight columns at a time."""
    result = np.zeros(len(starts) - 1)
    for left in range(0, V.shape[1], LANES):
        some = slice(left, left + LANES)
        with threads_for(float(len(values)) * LANES):
            cuts = shares(starts), shares(row_starts)
            result += inners_of_lanes(
                starts, rows, values, row_starts, dims, *cuts, padded(U[:, some]), padded(V[:, some])
            )
    return result


def inners_of_lanes_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    dim_cuts: Ints,
    row_cuts: Ints,
    U: Array,
    V: Array,
) -> Array:
    """The definition, for LANES columns. The cuts say which dimensions and rows each thread takes."""
    return inners_reference(starts, rows, values, row_starts, dims, U, V)


@compiled(parallel=True, error_model="numpy")
def inners_of_lanes(
    starts: Ints,
    rows: Ints,
    values: Array,
    row_starts: Ints,
    dims: Ints,
    dim_cuts: Ints,
    row_cuts: Ints,
    U: Array,
    V: Array,
) -> Array:
    """As `inners_of_lanes_reference`, in time proportional to the non-zeros."""
    totals = totals_of_lanes(row_starts, dims, row_cuts, V, starts.size - 1).reshape(-1)
    table = np.empty((V.shape[0], 2 * LANES))
    table[:, :LANES], table[:, LANES:] = V, U
    flat, sums = table.reshape(-1), np.zeros((starts.size - 1, LANES))
    for part in numba.prange(dim_cuts.size - 1):
        for d in range(dim_cuts[part], dim_cuts[part + 1]):
            _sweep_inner(sums.reshape(-1), flat, rows, values, starts[d], starts[d + 1], totals, d)
    return sums.sum(axis=1)


@numba.njit(error_model="numpy")
def _sweep_inner(
    sums: Array, table: Array, rows: Ints, values: Array, start: int, stop: int, totals: Array, d: int
) -> None:
    below, above, inner = fill(0.0), load(totals, np.uint64(d) * np.uint64(LANES)), fill(0.0)
    for t in range(np.uint64(start), np.uint64(stop)):
        x, place = values[t], np.uint64(rows[t]) * np.uint64(2 * LANES)
        numbers = load(table, place)
        below = multiply_add(x, numbers, below)
        above = subtract(above, numbers)
        inner = add(inner, multiply(load(table, place + np.uint64(LANES)), multiply_add(x, above, below)))
    store(sums, np.uint64(d) * np.uint64(LANES), inner)
