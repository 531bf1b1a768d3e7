"""What new histograms have in common with sorted ones: f_d(z) = w_d sum_j min(x_jd, z) v_j at many points z. [Rodner2012, eq. 6]

Both the points and the training values are in ascending order, so one sweep passes all of them. Threads take some dimensions
each, `first` to `last`, and have results of their own.
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
    aligned,
    aligned_copy,
    fill,
    load,
    multiply_add,
    store,
    subtract,
)
from fewsight._compiled._loops import blocks, padded, summed
from fewsight._compiled.sorted_columns import Columns


def at_points_reference(columns: Columns, weights: Array, totals: Array, V: Array, points: Columns, n: int) -> Array:
    """The definition: f_d at the points of each dimension d, for each column of V, added up in the point's row of n.

    `totals` (D, n_columns) are the sums of V over the rows that have a dimension.
    """
    result = np.zeros((n, V.shape[1]))
    for d in range(len(columns.starts) - 1):
        here = slice(columns.starts[d], columns.starts[d + 1])
        there = slice(points.starts[d], points.starts[d + 1])
        K = weights[d] * np.minimum(points.values[there, None], columns.values[None, here])
        np.add.at(result, points.rows[there], K @ V[columns.rows[here]])
    return result


def at_points(columns: Columns, weights: Array, totals: Array, V: Array, points: Columns, n: int) -> Array:
    """As `at_points_reference`, eight columns of V at a time."""
    result = np.empty((n, V.shape[1]))
    for some in blocks(V):
        sums, numbers = padded(totals[:, some], True), padded(V[:, some], True)
        work = functools.partial(points_of_lanes, columns, weights, sums, numbers, points, n)
        whole = summed(work, columns.starts + points.starts)
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def points_of_lanes_reference(
    columns: Columns, weights: Array, totals: Array, V: Array, points: Columns, n: int, first: int, last: int
) -> Array:
    """The definition, for LANES columns and some of the dimensions."""
    here = columns._replace(starts=columns.starts[first : last + 1])
    there = points._replace(starts=points.starts[first : last + 1])
    return at_points_reference(here, weights[first:last], totals[first:last], V, there, n)


@compiled(nogil=True, error_model="numpy")
def points_of_lanes(
    columns: Columns, weights: Array, totals: Array, V: Array, points: Columns, n: int, first: int, last: int
) -> Array:
    """As `points_of_lanes_reference`, in time proportional to the training values and the points."""
    starts, rows, values = columns
    point_starts, point_rows, places = points
    out, numbers, sums = aligned(n, SKEW), aligned_copy(V, 0), totals.reshape(-1)
    for d in range(first, last):
        t, stop, weight = np.uint64(starts[d]), np.uint64(starts[d + 1]), weights[d]
        below, above = fill(0.0), load(sums, np.uint64(d) * np.uint64(LANES))
        for p in range(np.uint64(point_starts[d]), np.uint64(point_starts[d + 1])):  # unsigned: no test for negatives
            point = places[p]
            while t < stop and values[t] < point:
                number = load(numbers, np.uint64(rows[t]) * np.uint64(LANES))
                below = multiply_add(weight * values[t], number, below)
                above = subtract(above, number)
                t += np.uint64(1)
            place = np.uint64(point_rows[p]) * np.uint64(LANES)
            store(out, place, add(load(out, place), multiply_add(weight * point, above, below)))
    return out.reshape((n, LANES))
