"""Two other ways to solve (K + noise) a = y, as they were compared with conjugate gradients. [Rodner2012, section 6.4]

*Coordinate descent* after Wu: one coefficient at a time, with the sums over all examples read from a table of each
dimension's values, which is brought up to date after every change. *Greedy block coordinate descent* after Bo and
Sminchisescu: ten coefficients at a time, those that promise most, with kernel values computed when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numba
import numpy as np

from fewsight.kernels import HistogramIntersection

Watch = Callable[[float, float], bool]  # told seconds and the largest residual; says whether to stop
BLOCK, CANDIDATES = 10, 20


@numba.njit(cache=True)
def sweep(starts, dims, places, steps, diagonal, noise, targets, order, dual, table):
    """One pass over all examples in a given order; the table holds, for each dimension and place, sum_j a_j min(place,
    place_j)."""
    largest = 0.0
    n_places = table.shape[1]
    for i in order:
        product = 0.0
        for t in range(starts[i], starts[i + 1]):
            product += steps[dims[t]] * table[dims[t], places[t]]
        residual = targets[i] - product - noise * dual[i]
        largest = max(largest, abs(residual))
        change = residual / (diagonal[i] + noise)
        dual[i] += change
        for t in range(starts[i], starts[i + 1]):
            for place in range(1, n_places):
                table[dims[t], place] += change * min(place, places[t])
    return largest


def quantised(X, bins: int):
    """Rows whose values are multiples of a hundredth of the largest of their dimension: those that a table can hold exactly."""
    greatest = np.asarray(X.max(axis=0).todense()).ravel()
    steps = greatest / bins
    places = np.maximum(np.rint(X.data / np.where(steps > 0, steps, 1.0)[X.indices]), 1.0)
    rounded = X.copy()
    rounded.data = places * steps[X.indices]
    return rounded, places.astype(np.int64), steps


def coordinate_descent(X, places, steps, bins: int, y, noise: float, tolerance: float, watch: Watch, seed: int):
    """Until the largest residual is below the tolerance, or `watch` says stop. The residual of a sweep is that before each
    change."""
    rng = np.random.default_rng(seed)
    dual, table = np.zeros(len(y)), np.zeros((X.shape[1], bins + 1))
    fixed = X.indptr, X.indices, places, steps, np.asarray(X.sum(axis=1)).ravel(), noise, y
    sweep(*fixed, np.arange(0), dual, table)  # compiled before the clock starts
    start = process_time()
    while True:
        largest = sweep(*fixed, rng.permutation(len(y)), dual, table)
        if watch(process_time() - start, largest) or largest < tolerance:
            return dual


def greedy_blocks(X, y, noise: float, tolerance: float, watch: Watch):
    """Greedy block coordinate descent: of the twenty examples with the largest promised decrease, ten are chosen one by one."""
    kernel = HistogramIntersection()
    diagonal = np.asarray(X.sum(axis=1)).ravel() + noise
    dual, residual = np.zeros(len(y)), y.astype(np.float64).copy()
    start = process_time()
    while True:
        candidates = np.argsort(-(residual**2) / diagonal)[:CANDIDATES]
        columns = kernel.gram(X, X[candidates])
        corner = columns[candidates] + noise * np.eye(len(candidates))
        chosen = _chosen(corner, residual[candidates])
        change = np.linalg.solve(corner[np.ix_(chosen, chosen)], residual[candidates][chosen])
        rows = candidates[chosen]
        dual[rows] += change
        residual -= columns[:, chosen] @ change
        residual[rows] -= noise * change
        largest = float(np.abs(residual).max())
        if watch(process_time() - start, largest) or largest < tolerance:
            return dual


def _chosen(corner, residual):
    """Ten of the candidates, each the one that lowers the objective most after those before it."""
    chosen: list[int] = []
    for _ in range(min(BLOCK, len(residual))):
        left, diagonal = residual.copy(), np.diag(corner).copy()
        if chosen:
            part = np.linalg.solve(corner[np.ix_(chosen, chosen)], corner[chosen])
            left = residual - part.T @ residual[chosen]
            diagonal = np.diag(corner) - np.einsum("ij,ij->j", corner[chosen], part)
        promised = np.where(diagonal > 1e-12, left**2 / np.maximum(diagonal, 1e-12), -1.0)
        promised[chosen] = -1.0
        chosen.append(int(promised.argmax()))
    return chosen
