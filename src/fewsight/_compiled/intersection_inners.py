"""u^T K_d v for every dimension d of the histogram intersection kernel, in one sweep as in `intersection_product`.

These are the slopes of u^T K v in the dimensions' weights: a thousand of them cost what one product costs.
"""

from __future__ import annotations

import functools

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import (
    LANES,
    SKEW,
    add,
    aligned_copy,
    fill,
    load,
    multiply,
    multiply_add,
    store,
    subtract,
)
from fewsight._compiled._loops import blocks, in_shares, padded
from fewsight._compiled.sorted_columns import Columns


def inners_reference(columns: Columns, totals: Array, U: Array, V: Array) -> Array:
    """The definition: for each dimension, without its weight, the trace of U^T K_d V."""
    starts, rows, values = columns
    result = np.zeros(len(starts) - 1)
    for d in range(len(result)):
        here = slice(starts[d], starts[d + 1])
        K = np.minimum(values[here, None], values[None, here])
        result[d] = np.sum(U[rows[here]] * (K @ V[rows[here]]))
    return result


def inners(columns: Columns, totals: Array, U: Array, V: Array) -> Array:
    """As `inners_reference`, eight columns at a time."""
    result = np.zeros(len(columns.starts) - 1)
    for some in blocks(V):
        numbers = padded(totals[:, some], True), padded(U[:, some], True), padded(V[:, some], True)
        parts = in_shares(functools.partial(inners_of_lanes, columns, *numbers), columns.starts)
        result += np.concatenate(parts)
    return result


def inners_of_lanes_reference(columns: Columns, totals: Array, U: Array, V: Array, first: int, last: int) -> Array:
    """The definition, for LANES columns and some of the dimensions."""
    return inners_reference(columns._replace(starts=columns.starts[first : last + 1]), totals, U, V)


@compiled(nogil=True, error_model="numpy")
def inners_of_lanes(columns: Columns, totals: Array, U: Array, V: Array, first: int, last: int) -> Array:
    """As `inners_of_lanes_reference`, in time proportional to the non-zeros."""
    starts, rows, values = columns
    lefts, numbers, flat = aligned_copy(U, SKEW), aligned_copy(V, 0), totals.reshape(-1)
    result, lanes = np.zeros(last - first), np.empty(LANES)
    for d in range(first, last):
        below, above, inner = fill(0.0), load(flat, np.uint64(d) * np.uint64(LANES)), fill(0.0)
        for t in range(np.uint64(starts[d]), np.uint64(starts[d + 1])):  # unsigned: no test for negative places
            x, place = values[t], np.uint64(rows[t]) * np.uint64(LANES)
            number = load(numbers, place)
            below = multiply_add(x, number, below)
            above = subtract(above, number)
            inner = add(inner, multiply(load(lefts, place), multiply_add(x, above, below)))
        store(lanes, np.uint64(0), inner)
        for k in range(LANES):
            result[d - first] += lanes[k]
    return result
