"""What new histograms have in common with sorted ones: f_d(z) = w_d sum_j min(x_jd, z) v_j at points z. [Rodner2012, eq. 6]

f_d is piecewise linear with a bend at every training value. Many points are met by merging: both they and the training values are
sorted, so one sweep passes all of them (`at_points`). A single histogram is met by a search in each of its dimensions
(`searched`), which starts from sums kept at every CHECKPOINT-th value. Both are exact. Look-up tables (`looked_up`) hold f_d
at equidistant points and take the straight line between two of them.

Sorted columns and the rows' side are as in `intersection_sweep`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import LANES, add, fill, load, minimum, multiply_add, store, subtract
from fewsight._compiled._shares import shares
from fewsight._compiled._threads import threads_for
from fewsight._compiled.intersection_sweep import padded

Ints = npt.NDArray[Any]

CHECKPOINT = 16  # values from one stored sum to the next: a sixteenth of the memory, eight more steps for a search


def at_points_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    totals: Array,
    point_starts: Ints,
    point_rows: Ints,
    points: Array,
    V: Array,
    n: int,
) -> Array:
    """The definition: f_d at the points of each dimension d, point_starts[d] to point_starts[d + 1], for each column of V, added
    up in the point's row of n.

    `totals` (D, n_columns) are the sums of V over the rows that have a dimension.
    """
    result = np.zeros((n, V.shape[1]))
    for d in range(len(starts) - 1):
        here, there = slice(starts[d], starts[d + 1]), slice(point_starts[d], point_starts[d + 1])
        K = weights[d] * np.minimum(points[there, None], values[None, here])
        np.add.at(result, point_rows[there], K @ V[rows[here]])
    return result


def at_points(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    totals: Array,
    point_starts: Ints,
    point_rows: Ints,
    points: Array,
    V: Array,
    n: int,
) -> Array:
    """As `at_points_reference`, eight columns of V at a time. The points of a dimension are in ascending order."""
    result = np.empty((n, V.shape[1]))
    for left in range(0, V.shape[1], LANES):
        some = slice(left, left + LANES)
        block = padded(totals[:, some]), point_starts, point_rows, points, padded(V[:, some])
        with threads_for(float(len(values) + len(points)) * LANES):
            cuts = shares(starts + point_starts)
            whole = points_of_lanes(starts, rows, values, weights, *block, n, cuts)
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def points_of_lanes_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    totals: Array,
    point_starts: Ints,
    point_rows: Ints,
    points: Array,
    V: Array,
    n: int,
    dim_cuts: Ints,
) -> Array:
    """The definition, for LANES columns. The cuts say which dimensions each thread takes."""
    return at_points_reference(starts, rows, values, weights, totals, point_starts, point_rows, points, V, n)


@compiled(parallel=True, error_model="numpy")
def points_of_lanes(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    totals: Array,
    point_starts: Ints,
    point_rows: Ints,
    points: Array,
    V: Array,
    n: int,
    dim_cuts: Ints,
) -> Array:
    """As `points_of_lanes_reference`, in time proportional to the training values and the points."""
    results = np.zeros((dim_cuts.size - 1, n * LANES))
    for part in numba.prange(dim_cuts.size - 1):
        result, numbers, sums = results[part], V.reshape(-1), totals.reshape(-1)
        for d in range(dim_cuts[part], dim_cuts[part + 1]):
            t, stop, weight = np.uint64(starts[d]), np.uint64(starts[d + 1]), weights[d]
            below, above = fill(0.0), load(sums, np.uint64(d) * np.uint64(LANES))
            for p in range(np.uint64(point_starts[d]), np.uint64(point_starts[d + 1])):
                point = points[p]
                while t < stop and values[t] < point:
                    number = load(numbers, np.uint64(rows[t]) * np.uint64(LANES))
                    below = multiply_add(weight * values[t], number, below)
                    above = subtract(above, number)
                    t += np.uint64(1)
                place = np.uint64(point_rows[p]) * np.uint64(LANES)
                store(result, place, add(load(result, place), multiply_add(weight * point, above, below)))
    return results.sum(axis=0).reshape((n, LANES))


def cross_reference(starts: Ints, rows: Ints, values: Array, weights: Array, Z: Array, n: int) -> Array:
    """The definition: K between n training rows and the columns of Z, which is dense and has a row for each dimension."""
    X = np.zeros((n, len(starts) - 1))
    X[rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = values
    return np.stack([np.minimum(X, z) @ weights for z in Z.T], axis=1) if Z.shape[1] else np.zeros((n, 0))


def cross(starts: Ints, rows: Ints, values: Array, weights: Array, Z: Array, n: int) -> Array:
    """As `cross_reference`, eight columns of Z at a time."""
    result = np.empty((n, Z.shape[1]))
    for left in range(0, Z.shape[1], LANES):
        some = slice(left, left + LANES)
        with threads_for(float(len(values)) * LANES):
            whole = cross_of_lanes(starts, rows, values, weights, padded(Z[:, some]), n, shares(starts))
        result[:, some] = whole[:, : Z[:, some].shape[1]]
    return result


def cross_of_lanes_reference(
    starts: Ints, rows: Ints, values: Array, weights: Array, Z: Array, n: int, dim_cuts: Ints
) -> Array:
    """The definition, for LANES columns. The cuts say which dimensions each thread takes."""
    return cross_reference(starts, rows, values, weights, Z, n)


@compiled(parallel=True, error_model="numpy")
def cross_of_lanes(starts: Ints, rows: Ints, values: Array, weights: Array, Z: Array, n: int, dim_cuts: Ints) -> Array:
    """As `cross_of_lanes_reference`, in time proportional to the non-zeros of dimensions that Z has."""
    results = np.zeros((dim_cuts.size - 1, n * LANES))
    for part in numba.prange(dim_cuts.size - 1):
        result, flat = results[part], Z.reshape(-1)
        for d in range(dim_cuts[part], dim_cuts[part + 1]):
            if Z[d].any():
                z, weight = load(flat, np.uint64(d) * np.uint64(LANES)), weights[d]
                for t in range(np.uint64(starts[d]), np.uint64(starts[d + 1])):
                    place = np.uint64(rows[t]) * np.uint64(LANES)
                    least = minimum(fill(values[t]), z)
                    store(result, place, multiply_add(weight, least, load(result, place)))
    return results.sum(axis=0).reshape((n, LANES))


def values_of_row_reference(starts: Ints, rows: Ints, values: Array, dims: Ints, row: int) -> Array:
    """The definition: what stands in one row, in the dimensions that it has."""
    places = [starts[d] + np.flatnonzero(rows[starts[d] : starts[d + 1]] == row)[0] for d in dims]
    return values[np.asarray(places, dtype=np.intp)]


@compiled(error_model="numpy")
def values_of_row(starts: Ints, rows: Ints, values: Array, dims: Ints, row: int) -> Array:
    """As `values_of_row_reference`."""
    found = np.empty(dims.size)
    for k in range(dims.size):
        t = starts[dims[k]]
        while rows[t] != row:
            t += 1
        found[k] = values[t]
    return found


def checkpoints_reference(starts: Ints, rows: Ints, values: Array, weights: Array, totals: Array, V: Array) -> Array:
    """The definition: for every CHECKPOINT-th place of a column the two sums of eq. 6: over what is before it, and from it on.

    Columns follow each other, each with one place more than its length divided by CHECKPOINT; shape (n_places, 2, n_columns).
    """
    sums = []
    for d in range(len(starts) - 1):
        for t in range(starts[d], starts[d + 1] + 1, CHECKPOINT):
            before, after = slice(starts[d], t), slice(t, starts[d + 1])
            sums.append((weights[d] * values[before] @ V[rows[before]], V[rows[after]].sum(axis=0)))
    return np.asarray(sums).reshape(-1, 2, V.shape[1])


@compiled(error_model="numpy")
def checkpoints(starts: Ints, rows: Ints, values: Array, weights: Array, totals: Array, V: Array) -> Array:
    """As `checkpoints_reference`, in one sweep."""
    n_places = 0
    for d in range(starts.size - 1):
        n_places += (starts[d + 1] - starts[d]) // CHECKPOINT + 1
    sums, place = np.empty((n_places, 2, V.shape[1])), 0
    for d in range(starts.size - 1):
        below, above = np.zeros(V.shape[1]), totals[d].copy()
        for t in range(starts[d], starts[d + 1] + 1):
            if (t - starts[d]) % CHECKPOINT == 0:
                sums[place, 0], sums[place, 1] = below, above
                place += 1
            if t < starts[d + 1]:
                below += weights[d] * values[t] * V[rows[t]]
                above -= V[rows[t]]
    return sums


def searched_reference(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    sums: Array,
    V: Array,
    z_starts: Ints,
    z_dims: Ints,
    z_values: Array,
) -> Array:
    """The definition: K between new rows (CSR) and training rows, times V. `sums` are as `checkpoints` returns them."""
    result = np.zeros((len(z_starts) - 1, V.shape[1]))
    for i in range(len(result)):
        for t in range(z_starts[i], z_starts[i + 1]):
            here = slice(starts[z_dims[t]], starts[z_dims[t] + 1])
            result[i] += weights[z_dims[t]] * np.minimum(z_values[t], values[here]) @ V[rows[here]]
    return result


@compiled(error_model="numpy", nogil=True)
def searched(
    starts: Ints,
    rows: Ints,
    values: Array,
    weights: Array,
    sums: Array,
    V: Array,
    z_starts: Ints,
    z_dims: Ints,
    z_values: Array,
) -> Array:
    """As `searched_reference`, by a search for each non-zero of a new row."""
    firsts = np.zeros(starts.size, np.int64)
    for d in range(starts.size - 1):
        firsts[d + 1] = firsts[d] + (starts[d + 1] - starts[d]) // CHECKPOINT + 1
    result = np.zeros((z_starts.size - 1, V.shape[1]))
    for i in range(result.shape[0]):
        for t in range(z_starts[i], z_starts[i + 1]):
            d, z = z_dims[t], z_values[t]
            rank = _rank(values, starts[d], starts[d + 1], z) - starts[d]
            place, first = firsts[d] + rank // CHECKPOINT, starts[d] + rank // CHECKPOINT * CHECKPOINT
            for k in range(V.shape[1]):
                below, above = sums[place, 0, k], sums[place, 1, k]
                for s in range(first, starts[d] + rank):
                    number = V[rows[s], k]
                    below += weights[d] * values[s] * number
                    above -= number
                result[i, k] += below + weights[d] * z * above
    return result


@numba.njit(error_model="numpy")
def _rank(values: Array, start: int, stop: int, z: float) -> int:
    """The first place from start to stop where the value is not below z; halves without a branch to guess."""
    first, length = start, stop - start
    while length > 0:
        half = length // 2
        lower = values[first + half] < z
        first = first + half + 1 if lower else first
        length = length - half - 1 if lower else half
    return first


def looked_up_reference(z_starts: Ints, z_dims: Ints, z_values: Array, scales: Array, table: Array) -> Array:
    """The definition: for each row the sum over its dimensions of the straight lines between the entries of a table
    (D, n_bins + 1, n_columns), at z * scale; beyond the last entry the last."""
    result, last = np.zeros((len(z_starts) - 1, table.shape[2])), table.shape[1] - 1
    for i in range(len(result)):
        for t in range(z_starts[i], z_starts[i + 1]):
            place = min(z_values[t] * scales[z_dims[t]], float(last))
            low = min(int(place), last - 1)
            entries = table[z_dims[t], low : low + 2]
            result[i] += entries[0] + (place - low) * (entries[1] - entries[0])
    return result


@compiled(error_model="numpy", nogil=True)
def looked_up(z_starts: Ints, z_dims: Ints, z_values: Array, scales: Array, table: Array) -> Array:
    """As `looked_up_reference`."""
    result, last = np.zeros((z_starts.size - 1, table.shape[2])), table.shape[1] - 1
    width, flat = np.uint64(table.shape[1]), table.reshape(-1)
    columns = np.uint64(table.shape[2])
    for i in range(result.shape[0]):
        sums = result[i]
        for t in range(np.uint64(z_starts[i]), np.uint64(z_starts[i + 1])):
            d = np.uint64(z_dims[t])
            place = min(z_values[t] * scales[d], float(last))
            low = min(np.uint64(place), np.uint64(last - 1))
            share, first = place - low, (d * width + low) * columns
            for k in range(columns):
                entry = flat[first + k]
                sums[k] += entry + share * (flat[first + columns + k] - entry)
    return result
