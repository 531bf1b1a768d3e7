"""Sums over many symmetric matrices, each kept as its lower triangle, row after row, in single precision.

Row i of a triangle of side n begins at i (i + 1) / 2, so a matrix has p = n (n + 1) / 2 numbers and k of them are a (k, p) array.
All sums are made in double precision. A loop takes the places from `first` to `last` of eight triangles at a time, tile by tile,
so that totals stay in the cache while the matrices pass by once; it keeps to these places, so that threads can share. `rows` says
which triangles, and how many must be a multiple of eight: the first one again, with a weight of zero, fills up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight._compiled._caching import compiled
from fewsight._compiled._loops import in_shares, summed

Single = npt.NDArray[np.float32]

EIGHT = 8
TILE = 32_768  # places: totals in double precision take a quarter of a megabyte


def add_all(totals: Array, stack: Single, weights: Array) -> None:
    """totals (q, p) grow by weights (q, k) times the triangles (k, p), on all threads; triangles without weight are not read."""
    chosen = np.flatnonzero(weights.any(axis=0))
    rows = _in_eights(chosen)
    theirs = np.ascontiguousarray(weights[:, rows])
    theirs[:, len(chosen) :] = 0.0

    def work(first: int, last: int) -> None:
        add_weighted(totals, stack, rows, theirs, *_places(first, last, stack))

    if len(rows):
        in_shares(work, _tile_starts(stack, len(rows) * len(weights)))


def inner_all(stack: Single, W: Array, chosen: Indices) -> Array:
    """(m,), the sum of W (p,) times each of the chosen triangles of (k, p), on all threads; the others are not read."""
    if not len(chosen):
        return np.zeros(0)
    rows = _in_eights(chosen)

    def work(first: int, last: int) -> Array:
        return inner(stack, rows, W, *_places(first, last, stack))

    return summed(work, _tile_starts(stack, len(rows)))[: len(chosen)]


def _in_eights(rows: Indices) -> Indices:
    """The rows, and the first one again until there is a multiple of eight of them."""
    return np.concatenate([rows, np.repeat(rows[:1], -len(rows) % EIGHT)])


def _tile_starts(stack: Single, steps: int) -> Indices:
    """The steps before each tile of places; each place takes `steps`."""
    return np.append(np.arange(0, stack.shape[1], TILE), stack.shape[1]) * steps


def _places(first: int, last: int, stack: Single) -> tuple[int, int]:
    """Where a share of the tiles begins and ends."""
    return first * TILE, min(last * TILE, stack.shape[1])


@compiled(nogil=True, inline="always")
def _eight(stack: Single, rows: Indices, start: int, end: int) -> tuple[Single, ...]:
    """The same places of eight triangles."""
    return (
        *(stack[rows[0], start:end], stack[rows[1], start:end], stack[rows[2], start:end], stack[rows[3], start:end]),
        *(stack[rows[4], start:end], stack[rows[5], start:end], stack[rows[6], start:end], stack[rows[7], start:end]),
    )


def add_weighted_reference(totals: Array, stack: Single, rows: Indices, weights: Array, first: int, last: int) -> None:
    """The definition: totals (q, p) grow by weights (q, m) times the triangles stack[rows] (m, p), at these places."""
    totals[:, first:last] += weights @ stack[rows, first:last].astype(np.float64)


@compiled(nogil=True, fastmath={"reassoc", "contract"})
def add_weighted(totals: Array, stack: Single, rows: Indices, weights: Array, first: int, last: int) -> None:
    """As `add_weighted_reference`."""
    tile = max(TILE // max(len(weights), 1), 1)
    for start in range(first, last, tile):
        end = min(start + tile, last)
        for i in range(0, len(rows), EIGHT):
            A, B, C, D, E, F, G, H = _eight(stack, rows[i : i + EIGHT], start, end)
            for j in range(len(weights)):
                total = totals[j, start:end]
                a, b, c, d = weights[j, i], weights[j, i + 1], weights[j, i + 2], weights[j, i + 3]
                e, f, g, h = weights[j, i + 4], weights[j, i + 5], weights[j, i + 6], weights[j, i + 7]
                for at in range(end - start):
                    left = (a * A[at] + b * B[at]) + (c * C[at] + d * D[at])
                    total[at] += left + ((e * E[at] + f * F[at]) + (g * G[at] + h * H[at]))


def inner_reference(stack: Single, rows: Indices, W: Array, first: int, last: int) -> Array:
    """The definition: (m,), the sum of W (p,) times each of the triangles stack[rows] (m, p), at these places."""
    return stack[rows, first:last].astype(np.float64) @ W[first:last]


@compiled(nogil=True, fastmath={"reassoc", "contract"})
def inner(stack: Single, rows: Indices, W: Array, first: int, last: int) -> Array:
    """As `inner_reference`."""
    sums = np.zeros(len(rows))
    for start in range(first, last, TILE):
        end = min(start + TILE, last)
        V = W[start:end]
        for i in range(0, len(rows), EIGHT):
            A, B, C, D, E, F, G, H = _eight(stack, rows[i : i + EIGHT], start, end)
            a = b = c = d = e = f = g = h = 0.0
            for at in range(end - start):
                factor = V[at]
                a += factor * A[at]
                b += factor * B[at]
                c += factor * C[at]
                d += factor * D[at]
                e += factor * E[at]
                f += factor * F[at]
                g += factor * G[at]
                h += factor * H[at]
            sums[i : i + EIGHT] += np.array([a, b, c, d, e, f, g, h])
    return sums


def pack_reference(K: Array, packed: npt.NDArray[np.floating]) -> None:
    """The definition: the lower triangle of K (n, n), row after row, into packed (p,)."""
    packed[:] = K[np.tril_indices(len(K))]


@compiled(nogil=True)
def pack(K: Array, packed: npt.NDArray[np.floating]) -> None:
    """As `pack_reference`."""
    for i in range(len(K)):
        start = i * (i + 1) // 2
        for j in range(i + 1):
            packed[start + j] = K[i, j]


def unpack_reference(packed: npt.NDArray[np.floating], K: Array) -> None:
    """The definition: K (n, n) becomes the symmetric matrix whose lower triangle is packed (p,)."""
    K[np.tril_indices(len(K))] = packed
    K[:] = np.tril(K) + np.tril(K, -1).T


@compiled(nogil=True)
def unpack(packed: npt.NDArray[np.floating], K: Array) -> None:
    """As `unpack_reference`, a square of 32 x 32 at a time: what is written across stays in the cache."""
    n = len(K)
    for top in range(0, n, 32):
        for left in range(0, top + 1, 32):
            for i in range(top, min(top + 32, n)):
                start = i * (i + 1) // 2
                for j in range(left, min(left + 32, i + 1)):
                    K[i, j] = packed[start + j]
                    K[j, i] = packed[start + j]


def unpack_part_reference(packed: npt.NDArray[np.floating], positions: Indices, K: Array) -> None:
    """The definition: K (m, m) becomes the part between these rows of the matrix whose lower triangle is packed (p,)."""
    low, high = np.minimum.outer(positions, positions), np.maximum.outer(positions, positions)
    K[:] = packed[high * (high + 1) // 2 + low]


@compiled(nogil=True)
def unpack_part(packed: npt.NDArray[np.floating], positions: Indices, K: Array) -> None:
    """As `unpack_part_reference`."""
    for i in range(len(positions)):
        for j in range(i + 1):
            low, high = min(positions[i], positions[j]), max(positions[i], positions[j])
            value = packed[high * (high + 1) // 2 + low]
            K[i, j] = value
            K[j, i] = value
