"""The histogram intersection kernel between sorted histograms and a few others, all values of it.

Threads take some dimensions each, `first` to `last`, and have results of their own.
"""

from __future__ import annotations

import functools

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import LANES, aligned, fill, load, minimum, multiply_add, store
from fewsight._compiled._loops import blocks, padded, summed
from fewsight._compiled.sorted_columns import Columns


def cross_reference(columns: Columns, weights: Array, Z: Array, n: int) -> Array:
    """The definition: K between n training rows and the columns of Z, which is dense and has a row for each dimension."""
    X = np.zeros((n, len(weights)))
    X[columns.rows, np.repeat(np.arange(len(weights)), np.diff(columns.starts))] = columns.values
    return np.minimum(X[:, :, None], Z[None]).transpose(0, 2, 1) @ weights


def cross(columns: Columns, weights: Array, Z: Array, n: int) -> Array:
    """As `cross_reference`, eight columns of Z at a time."""
    result = np.empty((n, Z.shape[1]))
    for some in blocks(Z):
        work = functools.partial(cross_of_lanes, columns, weights, padded(Z[:, some], True), n)
        result[:, some] = summed(work, columns.starts)[:, : Z[:, some].shape[1]]
    return result


def cross_of_lanes_reference(columns: Columns, weights: Array, Z: Array, n: int, first: int, last: int) -> Array:
    """The definition, for LANES columns and some of the dimensions."""
    some = np.zeros_like(weights)
    some[first:last] = weights[first:last]
    return cross_reference(columns, some, Z, n)


@compiled(nogil=True, error_model="numpy")
def cross_of_lanes(columns: Columns, weights: Array, Z: Array, n: int, first: int, last: int) -> Array:
    """As `cross_of_lanes_reference`, in time proportional to the non-zeros of dimensions that Z has."""
    starts, rows, values = columns
    out, flat = aligned(n, 0), Z.reshape(-1)
    for d in range(first, last):
        z, weight, most = load(flat, np.uint64(d) * np.uint64(LANES)), weights[d], 0.0
        for k in range(LANES):
            most = max(most, Z[d, k])
        if most > 0:
            for t in range(np.uint64(starts[d]), np.uint64(starts[d + 1])):  # unsigned: no test for negative places
                place = np.uint64(rows[t]) * np.uint64(LANES)
                store(out, place, multiply_add(weight, minimum(fill(values[t]), z), load(out, place)))
    return out.reshape((n, LANES))
