"""Tables that spare a new histogram the sweep over all training values: sums kept at every few values, and look-up tables.

f_d(z) = w_d sum_j min(x_jd, z) v_j is piecewise linear with a bend at every training value. [Rodner2012, eq. 6]
`searched` finds the piece by halving and starts from sums kept at every CHECKPOINT-th value: exact. `looked_up` has f_d at
fixed points and takes the straight line between two of them, in a time that does not depend on the training rows; `bin_masses`
says how far the line may be from f_d. Tables have single or double precision, sums double.

New rows are canonical CSR: `z_starts`, `z_dims`, `z_values`.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled.sorted_columns import Columns, Ints

Singles = npt.NDArray[np.float32]

CHECKPOINT = 16  # values from one kept sum to the next: a sixteenth of the memory for eight more steps a search


def checkpoints_reference(columns: Columns, weights: Array, totals: Array, V: Array) -> Array:
    """The definition: at every CHECKPOINT-th place of a dimension the two sums of eq. 6, over what is before it and from it on.

    Dimensions follow each other, each with one place more than its length divided by CHECKPOINT; (n_places, 2, n_columns).
    """
    starts, rows, values = columns
    sums = []
    for d in range(len(starts) - 1):
        for t in range(starts[d], starts[d + 1] + 1, CHECKPOINT):
            before, after = slice(starts[d], t), slice(t, starts[d + 1])
            sums.append((weights[d] * values[before] @ V[rows[before]], V[rows[after]].sum(axis=0)))
    return np.asarray(sums).reshape(-1, 2, V.shape[1])


@compiled(nogil=True, error_model="numpy")
def checkpoints(columns: Columns, weights: Array, totals: Array, V: Array) -> Array:
    """As `checkpoints_reference`, in one sweep."""
    starts, rows, values = columns
    sums, place = np.empty((_first_places(starts)[-1], 2, V.shape[1])), 0
    for d in range(starts.size - 1):
        below, above = np.zeros(V.shape[1]), totals[d].copy()
        for t in range(starts[d], starts[d + 1] + 1):
            if (t - starts[d]) % CHECKPOINT == 0:
                sums[place, 0], sums[place, 1] = below, above
                place += 1
            if t < starts[d + 1]:
                for k in range(V.shape[1]):
                    below[k] += weights[d] * values[t] * V[rows[t], k]
                    above[k] -= V[rows[t], k]
    return sums


@numba.njit(error_model="numpy")
def _first_places(starts: Ints) -> Ints:
    firsts = np.zeros(starts.size, np.int64)
    for d in range(starts.size - 1):
        firsts[d + 1] = firsts[d] + (starts[d + 1] - starts[d]) // CHECKPOINT + 1
    return firsts


def searched_reference(
    columns: Columns, weights: Array, sums: Array, V: Array, z_starts: Ints, z_dims: Ints, z_values: Array
) -> Array:
    """The definition: K between new rows and training rows, times V. `sums` are as `checkpoints` returns them."""
    starts, rows, values = columns
    result = np.zeros((len(z_starts) - 1, V.shape[1]))
    for i in range(len(result)):
        for t in range(z_starts[i], z_starts[i + 1]):
            here = slice(starts[z_dims[t]], starts[z_dims[t] + 1])
            result[i] += weights[z_dims[t]] * np.minimum(z_values[t], values[here]) @ V[rows[here]]
    return result


@compiled(nogil=True, error_model="numpy")
def searched(
    columns: Columns, weights: Array, sums: Array, V: Array, z_starts: Ints, z_dims: Ints, z_values: Array
) -> Array:
    """As `searched_reference`, by a search for each non-zero of a new row."""
    starts, rows, values = columns
    firsts = _first_places(starts)
    result = np.zeros((z_starts.size - 1, V.shape[1]))
    for i in range(result.shape[0]):
        for t in range(z_starts[i], z_starts[i + 1]):
            d, z = z_dims[t], z_values[t]
            rank = _rank(values, starts[d], starts[d + 1], z)
            kept = (rank - starts[d]) // CHECKPOINT
            for k in range(V.shape[1]):
                below, above = sums[firsts[d] + kept, 0, k], sums[firsts[d] + kept, 1, k]
                for s in range(starts[d] + kept * CHECKPOINT, rank):
                    number = V[rows[s], k]
                    below += weights[d] * values[s] * number
                    above -= number
                result[i, k] += below + weights[d] * z * above
    return result


@numba.njit(error_model="numpy")
def _rank(values: Array, start: int, stop: int, z: float) -> int:
    """The first place from start to stop where the value is not below z."""
    first, length = start, stop - start
    while length > 0:
        half = length // 2
        lower = values[first + half] < z
        first = first + half + 1 if lower else first
        length = length - half - 1 if lower else half
    return first


def looked_up_reference(
    z_starts: Ints, z_dims: Ints, z_values: Array, places: Array, fine: float, table: Array | Singles
) -> Array:
    """The definition: for each row the sum over its dimensions of the straight lines between the entries of a table
    (D, n_bins + 1, n_columns). The place of z is p = z * places[d, 0] up to `fine`, and from there on fine + (p - fine) *
    places[d, 1], a slope of at most 1; beyond the last entry the last counts."""
    result, last = np.zeros((len(z_starts) - 1, table.shape[2])), table.shape[1] - 1
    for i in range(len(result)):
        for t in range(z_starts[i], z_starts[i + 1]):
            place = z_values[t] * places[z_dims[t], 0]
            place = min(place, fine + (place - fine) * places[z_dims[t], 1], float(last))
            low = min(int(place), last - 1)
            entries = table[z_dims[t], low : low + 2].astype(np.float64)
            result[i] += entries[0] + (place - low) * (entries[1] - entries[0])
    return result


@compiled(nogil=True, error_model="numpy")
def looked_up(
    z_starts: Ints, z_dims: Ints, z_values: Array, places: Array, fine: float, table: Array | Singles
) -> Array:
    """As `looked_up_reference`."""
    result, lines, flat = np.zeros((z_starts.size - 1, table.shape[2])), places.reshape(-1), table.reshape(-1)
    for i in range(result.shape[0]):
        if table.shape[2] == 1:
            result[i, 0] = _one_row(z_starts[i], z_starts[i + 1], z_dims, z_values, lines, fine, flat, table.shape[1])
        else:
            _many_columns(result[i], z_starts[i], z_starts[i + 1], z_dims, z_values, lines, fine, flat, table.shape[1])
    return result


@numba.njit(error_model="numpy", fastmath=True)
def _place(z: float, lines: Array, d: np.uint64, fine: float, width: int) -> tuple[np.uint64, float]:
    """The entry below a value, and how far the value is from it to the next."""
    place = z * lines[np.uint64(2) * d]
    place = min(min(place, fine + (place - fine) * lines[np.uint64(2) * d + np.uint64(1)]), width - 1.0)
    low = min(np.int64(place), np.int64(width - 2))
    return np.uint64(low), place - low


@numba.njit(error_model="numpy", fastmath=True)  # terms in any order: a sixth less time, and all numbers are finite
def _one_row(
    start: int, stop: int, dims: Ints, values: Array, lines: Array, fine: float, table: Array | Singles, width: int
) -> float:
    total = 0.0
    for t in range(np.uint64(start), np.uint64(stop)):  # unsigned: no test for negative places
        d = np.uint64(dims[t])
        low, share = _place(values[t], lines, d, fine, width)
        first = d * np.uint64(width) + low
        entry = np.float64(table[first])
        total += entry + share * (np.float64(table[first + np.uint64(1)]) - entry)
    return total


@numba.njit(error_model="numpy", fastmath=True)
def _many_columns(
    sums: Array,
    start: int,
    stop: int,
    dims: Ints,
    values: Array,
    lines: Array,
    fine: float,
    table: Array | Singles,
    width: int,
) -> None:
    columns = np.uint64(sums.size)
    for t in range(np.uint64(start), np.uint64(stop)):
        d = np.uint64(dims[t])
        low, share = _place(values[t], lines, d, fine, width)
        first = (d * np.uint64(width) + low) * columns
        for k in range(columns):
            entry = np.float64(table[first + k])
            sums[k] += entry + share * (np.float64(table[first + columns + k]) - entry)


def bin_masses_reference(columns: Columns, places: Array, fine: float, nodes: Array, V: Array) -> Array:
    """The definition: for each dimension and column of V the greatest product, over the bins, of a bin's width and the sum of
    the sizes of V at the training values in it (D, n_columns). `nodes` (D, n_bins + 1) are where bins begin and end."""
    starts, rows, values = columns
    result, n_bins = np.zeros((len(starts) - 1, V.shape[1])), nodes.shape[1] - 1
    for d in range(len(result)):
        here = slice(starts[d], starts[d + 1])
        place = values[here] * places[d, 0]
        place = np.minimum(place, fine + (place - fine) * places[d, 1])
        bins = np.minimum(place.astype(np.int64), n_bins - 1)
        masses = np.zeros((n_bins, V.shape[1]))
        np.add.at(masses, bins, np.abs(V[rows[here]]))
        result[d] = (np.diff(nodes[d])[:, None] * masses).max(axis=0)
    return result


@compiled(nogil=True, error_model="numpy")
def bin_masses(columns: Columns, places: Array, fine: float, nodes: Array, V: Array) -> Array:
    """As `bin_masses_reference`: values are in ascending order, so one bin is open at a time."""
    starts, rows, values = columns
    n_bins, width = nodes.shape[1] - 1, V.shape[1]
    result, mass, lines = np.zeros((starts.size - 1, width)), np.zeros(width), places.reshape(-1)
    for d in range(starts.size - 1):
        open_, mass[:] = -1, 0.0
        for t in range(starts[d], starts[d + 1]):
            place = values[t] * lines[2 * d]
            place = min(place, fine + (place - fine) * lines[2 * d + 1])
            here = min(np.int64(place), n_bins - 1)
            if here != open_:
                if open_ >= 0:
                    _close(result[d], mass, nodes[d, open_ + 1] - nodes[d, open_])
                open_ = here
            for k in range(width):
                mass[k] += abs(V[rows[t], k])
        if open_ >= 0:
            _close(result[d], mass, nodes[d, open_ + 1] - nodes[d, open_])
    return result


@numba.njit(error_model="numpy")
def _close(most: Array, mass: Array, length: float) -> None:
    """The bin is full: its product counts where it is the greatest, and the next begins with nothing."""
    for k in range(mass.size):
        most[k] = max(most[k], length * mass[k])
        mass[k] = 0.0
