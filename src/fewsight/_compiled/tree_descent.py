"""How many points fall into each node of a tree: every point goes from the root to the nearest child, until a leaf."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._compiled._caching import compiled

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[Any]


def node_counts_reference(points: Floats, words: Floats, starts: Ints, children: Ints) -> Ints:
    """The definition, point by point; the children of node i are children[starts[i] : starts[i + 1]], the root is 0."""
    counts = np.zeros(len(words), np.int64)
    for point in points:
        node = 0
        counts[node] += 1
        while starts[node] < starts[node + 1]:
            below = children[starts[node] : starts[node + 1]]
            node = below[((words[below] - point) ** 2).sum(axis=1).argmin()]
            counts[node] += 1
    return counts


@compiled(nogil=True, error_model="numpy")
def node_counts(points: Floats, words: Floats, starts: Ints, children: Ints) -> Ints:
    """As `node_counts_reference`, for rows of one width; of children at one distance the first. Other threads may run."""
    counts = np.zeros(words.shape[0], np.int64)
    counts[0] = points.shape[0]
    for i in range(points.shape[0]):
        node = 0
        while starts[node] < starts[node + 1]:
            node = _nearest(points[i], words, children[starts[node] : starts[node + 1]])
            counts[node] += 1
    return counts


@numba.njit(error_model="numpy")
def _nearest(point: Floats, words: Floats, candidates: Ints) -> int:
    """The candidate whose word is at the least distance; the first one if no distance is a number."""
    found, least = candidates[0], np.float32(np.inf)
    for candidate in candidates:
        distance = np.float32(0.0)
        for k in range(point.size):
            difference = words[candidate, k] - point[k]
            distance += difference * difference
        if distance < least:
            found, least = candidate, distance
    return found
