"""The non-zeros of histograms, dimension by dimension in ascending order of their values. [Rodner2012, section 4]

Columns are three arrays: `starts` (D + 1), and for each non-zero its row (`rows`, unsigned 32 bit) and value (`values` > 0).
Values are sorted by the 32 bits of their float32, eleven bits at a time; what is equal there is put right afterwards.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._threads import threads_for

Ints = npt.NDArray[Any]

DIGIT_BITS = 11
N_DIGITS = 3
BUCKETS = 2**DIGIT_BITS
SHORT = 256  # below, setting up the buckets takes longer than a sort by comparisons
RUN = 16  # equal float32 values that are sorted by insertion


def sort_columns_reference(starts: Ints, rows: Ints, values: Array) -> None:
    """The definition: every column by value and, where values are equal, in the order it came in. In place."""
    for first, last in zip(starts[:-1], starts[1:], strict=True):
        order = np.argsort(values[first:last], kind="stable")
        rows[first:last], values[first:last] = rows[first:last][order], values[first:last][order]


def sort_columns(starts: Ints, rows: Ints, values: Array) -> None:
    """As `sort_columns_reference`, on several threads where that pays."""
    with threads_for(10.0 * len(values)):
        radix_sort_columns(starts, rows, values)


def radix_sort_columns_reference(starts: Ints, rows: Ints, values: Array) -> None:
    """The definition: `sort_columns_reference`."""
    sort_columns_reference(starts, rows, values)


@compiled(parallel=True, error_model="numpy")
def radix_sort_columns(starts: Ints, rows: Ints, values: Array) -> None:
    """As `radix_sort_columns_reference`, in a time that grows with the number of non-zeros only. Values are >= 0."""
    for d in numba.prange(starts.size - 1):
        here = slice(starts[d], starts[d + 1])
        if starts[d + 1] - starts[d] < SHORT:
            _sort_by_comparison(rows[here], values[here])
        else:
            _sort_by_digits(rows[here], values[here])


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
def _sort_by_digits(rows: Ints, values: Array) -> None:
    """From the least digit of the float32 to the greatest; the bits of numbers >= 0 are in the order of the numbers."""
    keys = values.astype(np.float32).view(np.uint32)
    places = _digit_places(keys)
    order, next_keys, next_order = (
        np.arange(keys.size).astype(np.uint32),
        np.empty_like(keys),
        np.empty(keys.size, np.uint32),
    )
    for digit in range(N_DIGITS):
        if places[digit, BUCKETS] == 0:
            shift = np.uint32(digit * DIGIT_BITS)
            for t in range(keys.size):
                bucket = (keys[t] >> shift) & np.uint32(BUCKETS - 1)
                to = places[digit, bucket]
                places[digit, bucket] = to + 1
                next_keys[to], next_order[to] = keys[t], order[t]
            keys, next_keys = next_keys, keys
            order, next_order = next_order, order
    rows[:], values[:] = rows[order], values[order]
    _mend(keys, rows, values)


@numba.njit(error_model="numpy")
def _digit_places(keys: Ints) -> Ints:
    """Where each bucket of each digit begins; the last entry is 1 if all keys have one digit there, and need no pass."""
    places = np.zeros((N_DIGITS, BUCKETS + 1), np.int64)
    for key in keys:
        for digit in range(N_DIGITS):
            places[digit, (key >> np.uint32(digit * DIGIT_BITS)) & np.uint32(BUCKETS - 1)] += 1
    for digit in range(N_DIGITS):
        total, same = 0, 0
        for bucket in range(BUCKETS):
            count = places[digit, bucket]
            same += count == keys.size
            places[digit, bucket] = total
            total += count
        places[digit, BUCKETS] = same
    return places


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


def merge_columns_reference(
    a_starts: Ints, a_rows: Ints, a_values: Array, b_starts: Ints, b_rows: Ints, b_values: Array
) -> tuple[Ints, Ints, Array]:
    """The definition: the columns of both, sorted anew; of equal values those of `a` come first."""
    starts = a_starts + b_starts
    rows, values = np.empty(starts[-1], a_rows.dtype), np.empty(starts[-1])
    for d in range(len(starts) - 1):
        a, b = slice(a_starts[d], a_starts[d + 1]), slice(b_starts[d], b_starts[d + 1])
        rows[starts[d] : starts[d + 1]] = np.concatenate([a_rows[a], b_rows[b]])
        values[starts[d] : starts[d + 1]] = np.concatenate([a_values[a], b_values[b]])
    sort_columns_reference(starts, rows, values)
    return starts, rows, values


@compiled(error_model="numpy")
def merge_columns(
    a_starts: Ints, a_rows: Ints, a_values: Array, b_starts: Ints, b_rows: Ints, b_values: Array
) -> tuple[Ints, Ints, Array]:
    """As `merge_columns_reference`, for columns that are sorted, in one pass."""
    starts = a_starts + b_starts
    rows, values = np.empty(starts[-1], a_rows.dtype), np.empty(starts[-1])
    for d in range(starts.size - 1):
        i, j = a_starts[d], b_starts[d]
        for t in range(starts[d], starts[d + 1]):
            if j == b_starts[d + 1] or (i < a_starts[d + 1] and a_values[i] <= b_values[j]):
                rows[t], values[t] = a_rows[i], a_values[i]
                i += 1
            else:
                rows[t], values[t] = b_rows[j], b_values[j]
                j += 1
    return starts, rows, values
