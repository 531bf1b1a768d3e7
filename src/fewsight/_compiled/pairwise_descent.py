"""Quadratic programs with bounds and one sum that stays as it is, two variables at a time.

    minimise  1/2 a^T K a - t^T a    for  low <= a <= high,  sum(a) as at the start

With t the labels +1 and -1, and a the dual variables times the labels, this is the dual of a support vector machine with a bias.
A step moves as much from a_j to a_i as pays: i has the smallest gradient among those that may grow, j is chosen among those that
may shrink. When no pair is worth more than the tolerance, the gradients of all free variables agree, and are minus the bias.
"""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled

FLAT = 1e-12  # the least curvature along which a step is taken


def descend_reference(
    K: Array, t: Array, low: Array, high: Array, a: Array, tolerance: float, max_steps: int
) -> tuple[Array, float, int]:
    """The definition, for a feasible `a` that is overwritten: always the pair that violates optimality most.

    Returns the gradient K a - t, by how much it still differs between two variables that may move, and the number of steps.
    """
    gradient = K @ a - t
    for step in range(max_steps + 1):
        i = int(np.argmin(np.where(a < high, gradient, np.inf)))
        j = int(np.argmax(np.where(a > low, gradient, -np.inf)))
        violation = gradient[j] - gradient[i] if a[i] < high[i] and a[j] > low[j] else 0.0
        if violation <= tolerance or step == max_steps:
            break
        curvature = max(K[i, i] + K[j, j] - 2 * K[i, j], FLAT)
        moved = min(violation / curvature, high[i] - a[i], a[j] - low[j])
        a[i] = high[i] if moved == high[i] - a[i] else a[i] + moved
        a[j] = low[j] if moved == a[j] - low[j] else a[j] - moved
        gradient += moved * (K[:, i] - K[:, j])
    return gradient, max(float(violation), 0.0), step


@compiled(nogil=True)
def descend(
    K: Array, t: Array, low: Array, high: Array, a: Array, tolerance: float, max_steps: int
) -> tuple[Array, float, int]:
    """As `descend_reference`, but j is the partner with which a step gains most by the curvature: far fewer steps."""
    n = len(a)
    gradient = -t
    for j in range(n):
        if a[j] != 0.0:
            for k in range(n):
                gradient[k] += a[j] * K[j, k]
    violation, step = 0.0, 0
    while True:
        i, least = -1, np.inf
        for k in range(n):
            if a[k] < high[k] and gradient[k] < least:
                i, least = k, gradient[k]
        violation, j, best = 0.0, -1, 0.0
        if i >= 0:
            row, own = K[i], K[i, i]
            for k in range(n):
                difference = gradient[k] - least
                if a[k] > low[k] and difference > 0.0:
                    violation = max(violation, difference)
                    gain = difference * difference / max(own + K[k, k] - 2.0 * row[k], FLAT)
                    if gain > best:
                        j, best = k, gain
        if j < 0 or violation <= tolerance or step >= max_steps:
            break
        curvature = max(K[i, i] + K[j, j] - 2.0 * K[i, j], FLAT)
        moved = (gradient[j] - least) / curvature
        room_up, room_down = high[i] - a[i], a[j] - low[j]
        moved = min(moved, room_up, room_down)
        a[i] = high[i] if moved == room_up else a[i] + moved
        a[j] = low[j] if moved == room_down else a[j] - moved
        for k in range(n):
            gradient[k] += moved * (K[i, k] - K[j, k])
        step += 1
    return gradient, violation, step
