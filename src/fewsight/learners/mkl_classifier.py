"""Support vector machines that learn how much each of several kernels counts. [Gehler2009, section 2]"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import numpy as np

from fewsight._base.checks import check_choice
from fewsight._base.types import Array, Indices
from fewsight.gp import Grams
from fewsight.learners.examples import KernelLike
from fewsight.learners.mkl import Task, Weighted, l1_values, learn_l1, learn_l1_even, learn_l2
from fewsight.learners.weighted_machines import WeightedMachines


def _average(grams: Grams, tasks: Sequence[Task], *, gap: float) -> list[Weighted]:
    """Machines with equal weights. Their gap is that of the machine alone: its kernel is the average, and no other."""
    K, equal = grams.mean(), np.full(len(grams), 1.0 / len(grams))
    found = []
    for task in tasks:
        machine = task.train(K, gap=gap)
        alone: Array = np.array([machine.square])
        values = l1_values(task, np.ones(1), machine.dual, machine.margins, alone)
        found.append(Weighted(equal, machine.dual, machine.intercept, alone, *values, 1, 1))
    return found


SEARCHES: dict[str, Callable[..., list[Weighted]]] = {
    "l1": learn_l1,
    "l1_even": learn_l1_even,
    "l2": learn_l2,
    "average": _average,
}
NORMS = tuple(SEARCHES)


class MKLClassifier(WeightedMachines):
    """One support vector machine for each class against all others, with kernel weights of its own.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them.
        Several are what this learner is for.
    norm : "l1" for weights that add up to 1, of which few are not zero; "l1_even" for equal weights of the kernels that "l1"
        chooses, for classes of few examples, which weights fit too closely; "l2" for a quadratic penalty, under which all count;
        "average" for equal weights of all.
    C : penalty of a training error, for kernels whose training diagonal has mean 1. It does not mean the same for "l1" and
        "l2", whose weights are of any size: choose it for each.
    gap : relative duality gap at which the search for weights stops.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    weights_ : (n_classes, n_kernels), of the kernels that have weight.
    chosen_ : (n_kernels,), which of the kernels given these are, counted from 0.
    dual_weights_ : (n, n_classes), what each training example counts for each class.
    intercepts_ : (n_classes,), what is added for each class.
    gaps_ : (n_classes,), how far the weights are from the best at most, relative to the objective; of "l1_even", to that of
        "l1", so that it says what equal weights cost there.
    """

    name: ClassVar[str] = "mkl"
    title: ClassVar[str] = "SVM, learned weights"
    note: ClassVar[str] = (
        "support vector machines, one against all, that learn how much each of several channels counts."
    )
    ways: ClassVar[tuple[str, ...]] = NORMS

    def __init__(self, kernel: KernelLike = None, *, norm: str = "l1", C: float = 1_000.0, gap: float = 1e-3) -> None:
        self.kernel = kernel
        self.norm = norm
        self.C = C
        self.gap = gap

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Take this norm."""
        return self.set_params(norm=way)

    def _weigh(self, grams: Grams, tasks: Sequence[Task], gap: float) -> tuple[Grams, list[Weighted]]:
        norm = check_choice(self, "norm", self.norm, NORMS)
        return grams, SEARCHES[norm](grams, tasks, gap=gap)
