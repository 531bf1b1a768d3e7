"""For each dimension the sum of numbers over the rows that have it, from the rows' side, where it needs no jumps.

`row_starts` and `dims` list the dimensions of each row's non-zeros. Where a row has many, `masks` has the same as bits, one
for each dimension, in words of BYTES bytes, (n_words, n, BYTES): one column of numbers is then added up in registers, in half the
time.
Loops over rows take those from `first` to `last`.
"""

from __future__ import annotations

import functools

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._lanes import LANES, add, add_where, fill, load, store
from fewsight._compiled._loops import blocks, padded, summed
from fewsight._compiled.sorted_columns import Ints

BYTES = 16  # of a word, one for each register in use: half of the registers that a processor with masks has
WORD = BYTES * LANES  # bits
MOST_BYTES = 2  # of masks for a non-zero; where they would take more, there are none


def worth_masks(n: int, width: int, n_nonzeros: int) -> bool:
    """Whether this many non-zeros in n rows are enough for masks."""
    return -(-width // WORD) * BYTES * n <= MOST_BYTES * n_nonzeros


def masks_of_rows_reference(row_starts: Ints, dims: Ints, width: int) -> Ints:
    """The definition: bit d % WORD of word d // WORD is set in the rows that have dimension d; the least bits come first."""
    bits = np.zeros((len(row_starts) - 1, -(-width // WORD) * WORD), np.uint8)
    bits[np.repeat(np.arange(len(bits)), np.diff(row_starts)), dims] = 1
    words = np.packbits(bits, axis=1, bitorder="little").reshape(len(bits), -(-width // WORD), BYTES)
    return np.ascontiguousarray(words.transpose(1, 0, 2))


@compiled(nogil=True, error_model="numpy")
def masks_of_rows(row_starts: Ints, dims: Ints, width: int) -> Ints:
    """As `masks_of_rows_reference`."""
    masks = np.zeros((-(-width // WORD), row_starts.size - 1, BYTES), np.uint8)
    for i in range(row_starts.size - 1):
        for t in range(row_starts[i], row_starts[i + 1]):
            d = np.int64(dims[t])
            masks[d // WORD, i, d % WORD // LANES] |= np.uint8(1 << (d % LANES))
    return masks


def column_totals_reference(row_starts: Ints, dims: Ints, masks: Ints, width: int, V: Array) -> Array:
    """The definition: for each dimension (of `width`) and column the sum of V over the rows that have it."""
    totals = np.zeros((width, V.shape[1]))
    np.add.at(totals, dims, np.repeat(V, np.diff(row_starts), axis=0))
    return totals


def column_totals(row_starts: Ints, dims: Ints, masks: Ints, width: int, V: Array) -> Array:
    """As `column_totals_reference`, eight columns at a time; there may be no masks (no words)."""
    result = np.empty((width, V.shape[1]))
    for some in blocks(V):
        numbers = padded(V[:, some])
        loop = totals_of_one if numbers.shape[1] == 1 else totals_of_lanes
        work = functools.partial(loop, row_starts, dims, width, numbers)
        if numbers.shape[1] == 1 and len(masks):
            work = functools.partial(totals_by_masks, masks, width, numbers)
        whole = summed(work, row_starts)
        result[:, some] = whole[:, : V[:, some].shape[1]]
    return result


def totals_of_one_reference(row_starts: Ints, dims: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """The definition, for one column and some of the rows."""
    here = slice(row_starts[first], row_starts[last])
    none = np.empty((0, 0, BYTES), np.uint8)
    return column_totals_reference(row_starts[first : last + 1], dims[here], none, width, V[first:last])


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


def totals_by_masks_reference(masks: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """The definition, for one column and some of the rows."""
    words = np.ascontiguousarray(masks[:, first:last].transpose(1, 0, 2)).reshape(last - first, len(masks) * BYTES)
    return np.unpackbits(words, axis=1, bitorder="little")[:, :width].T.astype(np.float64) @ V[first:last]


@compiled(nogil=True, error_model="numpy")
def totals_by_masks(masks: Ints, width: int, V: Array, first: int, last: int) -> Array:
    """As `totals_by_masks_reference`."""
    totals = np.zeros((masks.shape[0] * WORD, 1))
    sums = totals.reshape(-1)
    for word in range(masks.shape[0]):
        a, b, c, d, e, f, g, h = fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0)
        p, q, r, s, t, u, v, w = fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0)
        for i in range(np.uint64(first), np.uint64(last)):  # unsigned: no test for negative places
            bits, number = masks[word, i], fill(V[i, 0])
            a, b = add_where(a, number, bits[0]), add_where(b, number, bits[1])
            c, d = add_where(c, number, bits[2]), add_where(d, number, bits[3])
            e, f = add_where(e, number, bits[4]), add_where(f, number, bits[5])
            g, h = add_where(g, number, bits[6]), add_where(h, number, bits[7])
            p, q = add_where(p, number, bits[8]), add_where(q, number, bits[9])
            r, s = add_where(r, number, bits[10]), add_where(s, number, bits[11])
            t, u = add_where(t, number, bits[12]), add_where(u, number, bits[13])
            v, w = add_where(v, number, bits[14]), add_where(w, number, bits[15])
        place = np.uint64(word * WORD)
        for lanes in (a, b, c, d, e, f, g, h, p, q, r, s, t, u, v, w):
            store(sums, place, lanes)
            place += np.uint64(LANES)
    return totals[:width]
