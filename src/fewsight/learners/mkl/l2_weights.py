"""Weights of kernels with a quadratic penalty, none of which is zero. [Gehler2009, eq. 6]

For fixed functions v_k, |v_k|^2 = 2 d_k^2 T_k, the best weights are d = (d^2 T / 2)^(1/3): the objective falls with
every round, and where support vectors are below C the first round finds the right scale of all weights. The best d is T / 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewsight._base.types import Array
from fewsight.gp import Grams
from fewsight.learners.mkl.machine import Task
from fewsight.learners.mkl.weighted import Weighted, l2_values

MAX_ROUNDS = 200
TASKS_AT_A_TIME = 16  # whose weighted sums are in memory


def learn_l2(grams: Grams, tasks: Sequence[Task], *, gap: float) -> list[Weighted]:
    """The weights of each task to a relative duality gap, or as far as the rounds go; `gap` of the result says how far."""
    k, n = len(grams), grams.side
    weights, duals = np.full((len(tasks), k), 1.0 / k), np.zeros((len(tasks), n))
    found: list[Weighted | None] = [None] * len(tasks)
    for number in range(1, MAX_ROUNDS + 1):
        open_ones = [at for at, known in enumerate(found) if known is None or known.gap > gap]
        if not open_ones:
            break
        for first in range(0, len(open_ones), TASKS_AT_A_TIME):
            some = open_ones[first : first + TASKS_AT_A_TIME]
            for at, one in zip(
                some, _round(grams, [tasks[i] for i in some], weights[some], duals[some], gap), strict=True
            ):
                found[at] = _counted(one, number)
                duals[at] = one.dual
                weights[at] = np.cbrt(one.weights**2 * one.forms / 2.0)
    return [one for one in found if one is not None]


def _round(grams: Grams, tasks: Sequence[Task], weights: Array, duals: Array, gap: float) -> list[Weighted]:
    """The machines at these weights, and T of all kernels for all of them."""
    machines = [
        task.train(K, dual, gap=gap) for task, K, dual in zip(tasks, grams.weighted_sums(weights), duals, strict=True)
    ]
    forms = 0.5 * grams.quadratic_forms(np.stack([machine.dual for machine in machines], axis=1)).T
    results = []
    for task, machine, theirs, T in zip(tasks, machines, weights, forms, strict=True):
        T = np.maximum(T, 0.0)  # rounding
        primal, bound = l2_values(task, theirs, machine.dual, machine.margins, T)
        results.append(Weighted(theirs, machine.dual, machine.intercept, T, primal, bound, 1, 1))
    return results


def _counted(one: Weighted, number: int) -> Weighted:
    return Weighted(one.weights, one.dual, one.intercept, one.forms, one.primal, one.bound, number, number)
