"""The non-zeros of histograms, dimension by dimension in ascending order of their values. [Rodner2012, section 4]

Values are sorted by the 32 bits of their float32, eleven bits at a time; what is equal there is put right afterwards.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._loops import in_shares

Ints = npt.NDArray[Any]

DIGIT_BITS = 11
N_DIGITS = 3
BUCKETS = 2**DIGIT_BITS
LAST_BUCKET, KEY, ORIGIN = np.uint64(BUCKETS - 1), np.uint64(32), np.uint64(2**32 - 1)
SHORT = 256  # below, setting up the buckets takes longer than a sort by comparisons
RUN = 16  # equal float32 values that are sorted by insertion


class Columns(NamedTuple):
    """The non-zeros of dimension d are those from starts[d] to starts[d + 1], each with its row and its value."""

    starts: Ints  # (D + 1)
    rows: Ints  # unsigned, 32 bit
    values: Array


def sort_columns_reference(columns: Columns, first: int, last: int) -> None:
    """The definition: dimensions `first` to `last` by value and, where values are equal, in the order they came in. In place."""
    starts, rows, values = columns
    for start, stop in itertools.pairwise(starts[first : last + 1]):
        order = np.argsort(values[start:stop], kind="stable")
        rows[start:stop], values[start:stop] = rows[start:stop][order], values[start:stop][order]


def sort_all(columns: Columns) -> None:
    """Sort every dimension, in place, on several threads where that pays."""
    in_shares(functools.partial(sort_columns, columns), columns.starts)


@compiled(nogil=True, error_model="numpy")
def sort_columns(columns: Columns, first: int, last: int) -> None:
    """As `sort_columns_reference`, in a time that grows with the number of non-zeros only. Values are >= 0."""
    starts, rows, values = columns
    longest = 0
    for d in range(first, last):
        longest = max(longest, starts[d + 1] - starts[d])
    room, places = np.empty((2, longest), np.uint64), np.empty((N_DIGITS, BUCKETS), np.uint64)
    for d in range(first, last):
        here = slice(starts[d], starts[d + 1])
        if starts[d + 1] - starts[d] < SHORT:
            _sort_by_comparison(rows[here], values[here])
        else:
            _sort_by_digits(rows[here], values[here], room, places)


@numba.njit(error_model="numpy")
def _sort_by_comparison(rows: Ints, values: Array) -> None:
    if values.size > RUN:
        order = np.argsort(values, kind="mergesort")
        rows[:], values[:] = rows[order], values[order]
    else:
        _insert(rows, values, 0, values.size)


@numba.njit(error_model="numpy")
def _insert(rows: Ints, values: Array, first: int, last: int) -> None:
    """Sort a short stretch by insertion."""
    for t in range(first + 1, last):
        value, row, place = values[t], rows[t], t
        while place > first and values[place - 1] > value:
            values[place], rows[place] = values[place - 1], rows[place - 1]
            place -= 1
        values[place], rows[place] = value, row


@numba.njit(error_model="numpy")
def _sort_by_digits(rows: Ints, values: Array, room: Ints, places: Ints) -> None:
    """From the least digit of the float32 to the greatest; the bits of numbers >= 0 are in the order of the numbers.

    A key and where it came from make one word, so that both move at once.
    """
    keys = values.astype(np.float32).view(np.uint32)
    now, later = room[0], room[1]
    for t in range(np.uint64(keys.size)):  # unsigned, here and below: no test for negative places
        now[t] = np.uint64(keys[t]) << KEY | t
    _count_digits(keys, places)
    for digit in range(N_DIGITS):
        shift, place = KEY + np.uint64(digit * DIGIT_BITS), places[digit]
        for t in range(np.uint64(keys.size)):
            word = now[t]
            bucket = (word >> shift) & LAST_BUCKET
            later[place[bucket]] = word
            place[bucket] += np.uint64(1)
        now, later = later, now
    order = now[: keys.size] & ORIGIN
    rows[:], values[:], keys[:] = rows[order], values[order], keys[order]
    _mend(keys, rows, values)


@numba.njit(error_model="numpy")
def _count_digits(keys: Ints, places: Ints) -> None:
    """Where each bucket of each digit begins."""
    places[:] = np.uint64(0)
    for t in range(np.uint64(keys.size)):
        key = np.uint64(keys[t])
        for digit in range(N_DIGITS):
            places[digit, (key >> np.uint64(digit * DIGIT_BITS)) & LAST_BUCKET] += np.uint64(1)
    for digit in range(N_DIGITS):
        total = np.uint64(0)
        for bucket in range(BUCKETS):
            count = places[digit, bucket]
            places[digit, bucket] = total
            total += count


@numba.njit(error_model="numpy")
def _mend(keys: Ints, rows: Ints, values: Array) -> None:
    """Sort each stretch of equal float32 values by the float64 ones."""
    first = 0
    for t in range(1, keys.size + 1):
        if t == keys.size or keys[t] != keys[first]:
            if t - first > RUN:
                order = np.argsort(values[first:t], kind="mergesort")
                rows[first:t], values[first:t] = rows[first:t][order], values[first:t][order]
            else:
                _insert(rows, values, first, t)
            first = t


def merge_columns_reference(a: Columns, b: Columns) -> Columns:
    """The definition: the dimensions of both, sorted anew; of equal values those of `a` come first."""
    starts = a.starts + b.starts
    both = Columns(starts, np.empty(starts[-1], a.rows.dtype), np.empty(starts[-1]))
    for d in range(len(starts) - 1):
        for part, joined in ((1, both.rows), (2, both.values)):
            joined[starts[d] : starts[d + 1]] = np.concatenate([x[part][x.starts[d] : x.starts[d + 1]] for x in (a, b)])
    sort_columns_reference(both, 0, len(starts) - 1)
    return both


@compiled(nogil=True, error_model="numpy")
def merge_columns(a: Columns, b: Columns) -> Columns:
    """As `merge_columns_reference`, for dimensions that are sorted, in one pass."""
    starts = a.starts + b.starts
    rows, values = np.empty(starts[-1], a.rows.dtype), np.empty(starts[-1])
    for d in range(starts.size - 1):
        i, j = a.starts[d], b.starts[d]
        for t in range(starts[d], starts[d + 1]):
            if j == b.starts[d + 1] or (i < a.starts[d + 1] and a.values[i] <= b.values[j]):
                rows[t], values[t] = a.rows[i], a.values[i]
                i += 1
            else:
                rows[t], values[t] = b.rows[j], b.values[j]
                j += 1
    return Columns(starts, rows, values)


def values_of_row_reference(columns: Columns, dims: Ints, row: int) -> Array:
    """The definition: what stands in one row, in the dimensions that it has."""
    starts, rows, values = columns
    places = [starts[d] + np.flatnonzero(rows[starts[d] : starts[d + 1]] == row)[0] for d in dims]
    return values[np.asarray(places, dtype=np.intp)]


@compiled(nogil=True, error_model="numpy")
def values_of_row(columns: Columns, dims: Ints, row: int) -> Array:
    """As `values_of_row_reference`."""
    found = np.empty(dims.size)
    for k in range(dims.size):
        t = columns.starts[dims[k]]
        while columns.rows[t] != row:
            t += 1
        found[k] = columns.values[t]
    return found
