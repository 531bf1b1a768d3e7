"""What the tables on images share: weights by each way of combining, and the error of the machines that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight.gp import BlockStack, Grams, weighted_sum
from fewsight.learners.labels import Labels
from fewsight.learners.mkl import Machine, Task, Weighted, learn_l1, learn_l1_even, learn_l2
from fewsight.metrics import accuracy_per_class

Cell = dict[str, Any]
LEARNERS: dict[str, Callable[..., list[Weighted]]] = {"l1": learn_l1, "l1_even": learn_l1_even, "l2": learn_l2}
GAPS = {"l1": 1e-2, "l1_even": 1e-2, "l2": 1e-3}
MARGIN_GAP = 1e-3  # of a machine with a given kernel
TASKS_AT_A_TIME = 16  # whose weighted sums are in memory


def tasks_of(labels: Labels, C: float) -> list[Task]:
    """One class against the rest, in the order of the sorted labels."""
    return [Task(np.where(labels == name, 1.0, -1.0), C) for name in np.unique(labels)]


def machines(K: Array, labels: Labels, C: float) -> Callable[[Array], Labels]:
    """Support vector machines, one against the rest, with a given kernel; what they decide from test x training values."""
    trained = [task.train(K, gap=MARGIN_GAP) for task in tasks_of(labels, C)]
    duals = np.stack([machine.dual for machine in trained], axis=1)
    intercepts = np.array([machine.intercept for machine in trained])
    return lambda K_test: np.unique(labels)[(K_test @ duals + intercepts).argmax(axis=1)]


def machine_error(K: Array, K_test: Array, labels: Labels, test_labels: Labels, C: float) -> float:
    """Mean error per class in percent of support vector machines, one against the rest, with a given kernel."""
    return error_of(machines(K, labels, C)(K_test), test_labels)


def own_error(grams: Grams, blocks: BlockStack, weights: Array, labels: Labels, test_labels: Labels, C: float) -> float:
    """The same where each class has weights of its own, (c, k)."""
    trained: list[Machine] = []
    tasks = tasks_of(labels, C)
    for first in range(0, len(tasks), TASKS_AT_A_TIME):
        some = slice(first, first + TASKS_AT_A_TIME)
        trained += [
            task.train(K, gap=MARGIN_GAP)
            for task, K in zip(tasks[some], grams.weighted_sums(weights[some]), strict=True)
        ]
    duals = np.stack([machine.dual for machine in trained], axis=1)
    margins = blocks.weighted_products(weights, duals) + np.array([machine.intercept for machine in trained])
    return error_of(np.unique(labels)[margins.argmax(axis=1)], test_labels)


@dataclass(frozen=True)
class Learned:
    """Machines with learned weights (c, k), one against the rest."""

    classes: Labels
    found: list[Weighted]

    @property
    def weights(self) -> Array:
        return np.stack([one.weights for one in self.found])

    @property
    def n_kernels(self) -> float:
        """With weight, in the mean over the classes."""
        return float((self.weights > 0).sum(axis=1).mean())

    @property
    def gap(self) -> float:
        return float(max(one.gap for one in self.found))

    @property
    def intercepts(self) -> Array:
        return np.array([one.intercept for one in self.found])

    def predict(self, blocks: BlockStack) -> Labels:
        """The class of each test example."""
        duals = np.stack([one.dual for one in self.found], axis=1)
        return self.decide(blocks.weighted_products(self.weights, duals) + self.intercepts)

    def add_margins(self, margins: Array, number: int, K: npt.NDArray[np.float32]) -> None:
        """margins (m, c) grow by what the kernel of a number, (m, n), adds for the classes that use it, in single precision."""
        users = [place for place, one in enumerate(self.found) if one.weights[number] > 0]
        if users:
            duals = [self.found[place].weights[number] * self.found[place].dual for place in users]
            margins[:, users] += K @ np.stack(duals, axis=1).astype(np.float32)

    def decide(self, margins: Array) -> Labels:
        """The class whose margin is largest."""
        return np.asarray(self.classes[margins.argmax(axis=1)])


def learn_weights(way: str, grams: Grams, labels: Labels, C: float) -> Learned:
    """The weights of each class by l1 or l2."""
    return Learned(np.unique(labels), LEARNERS[way](grams, tasks_of(labels, C), gap=GAPS[way]))


def learned_error(
    way: str, grams: Grams, blocks: BlockStack, labels: Labels, test_labels: Labels, C: float
) -> tuple[Cell, Array]:
    """Error, kernels in use and the largest gap of l1 or l2, and the weights of each class (c, k)."""
    learned = learn_weights(way, grams, labels, C)
    error = error_of(learned.predict(blocks), test_labels)
    return {"error": error, "n_kernels": learned.n_kernels, "gap": learned.gap}, learned.weights


def scored(answers: dict[str, Any], labels: Labels, test_labels: Labels) -> Cell:
    """The error of labels, and the log loss of probabilities if they are stated."""
    cell = {"error": error_of(answers["label"], test_labels)}
    if "probabilities" in answers:
        columns = np.searchsorted(np.unique(labels), test_labels)
        stated = np.maximum(answers["probabilities"][np.arange(len(columns)), columns], 1e-15)
        cell["log_loss"] = float(-np.log(stated).mean())
    return cell


def error_of(predicted: Labels, test_labels: Labels) -> float:
    """Mean error per class in percent."""
    return 100.0 * (1.0 - accuracy_per_class(test_labels, predicted))


def mean_weights(weights: Array) -> Array:
    """How much each kernel counts in the mean over the classes (k,)."""
    return np.asarray((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))


def sums(grams: Sequence[Array], blocks: Sequence[Array], weights: Array) -> tuple[Array, Array]:
    """The weighted sums of training and test matrices."""
    return weighted_sum(grams, weights), weighted_sum(blocks, weights)
