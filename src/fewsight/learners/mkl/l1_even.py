"""The kernels that l1 chooses for a class, each with the same weight.

The weights of l1 are those of the largest margin on the training examples. With a handful of examples per class they fit these
examples, and rest on two or three kernels; the choice alone keeps what averaging several kernels gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewsight.gp import Grams
from fewsight.learners.mkl.l1_weights import learn_l1
from fewsight.learners.mkl.machine import Machine, Task
from fewsight.learners.mkl.weighted import Weighted, l1_values

TASKS_AT_A_TIME = 16  # whose weighted sums are in memory


def learn_l1_even(grams: Grams, tasks: Sequence[Task], *, gap: float) -> list[Weighted]:
    """Machines with equal weights of the kernels that `learn_l1` finds; their gap is that of these weights in its objective."""
    chosen = learn_l1(grams, tasks, gap=gap)
    weights = np.stack([(one.weights > 0) / np.count_nonzero(one.weights > 0) for one in chosen])
    machines: list[Machine] = []
    for first in range(0, len(tasks), TASKS_AT_A_TIME):
        some = slice(first, first + TASKS_AT_A_TIME)
        sums = grams.weighted_sums(weights[some])
        machines += [
            task.train(K, one.dual, gap=gap) for task, one, K in zip(tasks[some], chosen[some], sums, strict=True)
        ]
    forms = 0.5 * grams.quadratic_forms(np.stack([machine.dual for machine in machines], axis=1)).T
    found = []
    for task, one, even, machine, T in zip(tasks, chosen, weights, machines, forms, strict=True):
        values = l1_values(task, even, machine.dual, machine.margins, T)
        found.append(Weighted(even, machine.dual, machine.intercept, T, *values, one.n_machines + 1, one.n_rounds + 1))
    return found
