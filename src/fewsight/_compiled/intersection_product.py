"""K V for the histogram intersection kernel without the matrix K, in one sweep over the sorted non-zeros. [Rodner2012, eq. 6]

In one dimension, with values in ascending order, (K v)_i = sum_{j <= i} v_j x_j + x_i sum_{j > i} v_j. Going upwards the first
sum grows and the second shrinks, so each non-zero takes one step and no table is kept. What the second sum starts from, the sum
of v over the rows that have the dimension, is among `totals` (`column_totals`). Zeros add nothing.

`order` lists the dimensions from the longest to the shortest, `weights` has a factor for each. Threads take some dimensions
each, order[first] to order[last], and have results of their own, which are added up in a fixed order.
"""

from __future__ import annotations

import functools

import numba
import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import (
    LANES,
    SKEW,
    add,
    aligned,
    aligned_copy,
    fetch,
    fill,
    load,
    multiply_add,
    store,
    subtract,
)
from fewsight._compiled._loops import blocks, padded, summed
from fewsight._compiled.sorted_columns import Columns, Ints

FUSED = {"contract"}  # a product and a sum rounded once: an eighth less time, and no less exact
AT_A_TIME = 4  # dimensions: while one waits for its row, the others go on
# Eight columns of more than MANY_ROWS rows do not fit into the nearer caches: rows are fetched FAR_AHEAD steps early.
MANY_ROWS, AHEAD, FAR_AHEAD = 65_536, 8, 16


def product_reference(columns: Columns, order: Ints, weights: Array, totals: Array, V: Array) -> Array:
    """The definition, one dimension after the other; O(n^2) memory."""
    starts, rows, values = columns
    result = np.zeros_like(V)
    for d in order:
        here = slice(starts[d], starts[d + 1])
        K = np.minimum(values[here, None], values[None, here])
        result[rows[here]] += weights[d] * (K @ V[rows[here]])
    return result


def product(columns: Columns, order: Ints, weights: Array, totals: Array, V: Array) -> Array:
    """As `product_reference`, eight columns of V at a time."""
    result = np.empty(V.shape)
    steps = np.concatenate([[0], np.cumsum(np.diff(columns.starts)[order])])
    for some in blocks(V):
        numbers, sums = padded(V[:, some]), padded(totals[:, some])
        loop = product_of_one if numbers.shape[1] == 1 else product_of_lanes
        whole = summed(functools.partial(loop, columns, order, weights, sums, numbers), steps)
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def product_of_one_reference(
    columns: Columns, order: Ints, weights: Array, totals: Array, V: Array, first: int, last: int
) -> Array:
    """The definition, for one column and some of the dimensions."""
    return product_reference(columns, order[first:last], weights, totals, V)


@compiled(nogil=True, error_model="numpy", fastmath=FUSED)
def product_of_one(
    columns: Columns, order: Ints, weights: Array, totals: Array, V: Array, first: int, last: int
) -> Array:
    """As `product_of_one_reference`, in time proportional to the non-zeros.

    The number and the result of a row stand side by side: they are met together and in any order, so that one line of the
    cache comes instead of two.
    """
    table = np.zeros((V.shape[0], 2))
    for i in range(V.shape[0]):
        table[i, 0] = V[i, 0]
    flat, k = table.reshape(-1), first
    while k + AT_A_TIME <= last:
        _sweep_four(flat, columns, order[k], order[k + 1], order[k + 2], order[k + 3], weights, totals)
        k += AT_A_TIME
    for d in order[k:last]:
        _sweep(flat, columns, columns.starts[d], columns.starts[d + 1], weights[d], 0.0, totals[d, 0])
    return table[:, 1:].copy()


@numba.njit(error_model="numpy", fastmath=FUSED)
def _sweep(table: Array, columns: Columns, start: int, stop: int, weight: float, below: float, above: float) -> None:
    rows, values = columns.rows, columns.values
    for t in range(np.uint64(start), np.uint64(stop)):  # unsigned: no test for negative places
        below, above = _step(table, rows[t], weight * values[t], below, above)


@numba.njit(error_model="numpy", fastmath=FUSED)
def _step(table: Array, row: int, x: float, below: float, above: float) -> tuple[float, float]:
    place = np.uint64(row) * np.uint64(2)
    number = table[place]
    below += x * number
    above -= number
    table[place + np.uint64(1)] += below + x * above
    return below, above


@numba.njit(error_model="numpy", fastmath=FUSED)
def _sweep_four(
    table: Array, columns: Columns, d0: int, d1: int, d2: int, d3: int, weights: Array, totals: Array
) -> None:
    """Four dimensions, none longer than the one before it: all to the length of the last, then what each has left."""
    starts, rows, values = columns
    t0, t1, t2, t3 = np.uint64(starts[d0]), np.uint64(starts[d1]), np.uint64(starts[d2]), np.uint64(starts[d3])
    w0, w1, w2, w3 = weights[d0], weights[d1], weights[d2], weights[d3]
    below0, below1, below2, below3 = 0.0, 0.0, 0.0, 0.0
    above0, above1, above2, above3 = totals[d0, 0], totals[d1, 0], totals[d2, 0], totals[d3, 0]
    length = np.uint64(starts[d3 + 1] - starts[d3])
    for t in range(length):
        below0, above0 = _step(table, rows[t0 + t], w0 * values[t0 + t], below0, above0)
        below1, above1 = _step(table, rows[t1 + t], w1 * values[t1 + t], below1, above1)
        below2, above2 = _step(table, rows[t2 + t], w2 * values[t2 + t], below2, above2)
        below3, above3 = _step(table, rows[t3 + t], w3 * values[t3 + t], below3, above3)
    _sweep(table, columns, t0 + length, starts[d0 + 1], w0, below0, above0)
    _sweep(table, columns, t1 + length, starts[d1 + 1], w1, below1, above1)
    _sweep(table, columns, t2 + length, starts[d2 + 1], w2, below2, above2)


def product_of_lanes_reference(
    columns: Columns, order: Ints, weights: Array, totals: Array, V: Array, first: int, last: int
) -> Array:
    """The definition, for LANES columns and some of the dimensions."""
    return product_reference(columns, order[first:last], weights, totals, V)


@compiled(nogil=True, error_model="numpy")
def product_of_lanes(
    columns: Columns, order: Ints, weights: Array, totals: Array, V: Array, first: int, last: int
) -> Array:
    """As `product_of_lanes_reference`, in time proportional to the non-zeros."""
    starts, rows, values = columns
    sums, numbers, flat = aligned(V.shape[0], SKEW), aligned_copy(V, 0), totals.reshape(-1)
    ahead = np.uint64(FAR_AHEAD if V.shape[0] > MANY_ROWS else AHEAD)
    for d in order[first:last]:
        weight, below, above = weights[d], fill(0.0), load(flat, np.uint64(d) * np.uint64(LANES))
        stop = np.uint64(starts[d + 1])
        for t in range(np.uint64(starts[d]), stop):
            later = np.uint64(rows[t + ahead if t + ahead < stop else t]) * np.uint64(LANES)
            fetch(numbers, later)
            fetch(sums, later)
            x, place = weight * values[t], np.uint64(rows[t]) * np.uint64(LANES)
            number = load(numbers, place)
            below = multiply_add(x, number, below)
            above = subtract(above, number)
            store(sums, place, add(load(sums, place), multiply_add(x, above, below)))
    return sums.reshape((V.shape[0], LANES))
