"""What the tables on images share: weights by each way of combining, and the error of the machines that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.gp import Grams, weighted_sum
from fewsight.learners import GPClassifier
from fewsight.learners.labels import Labels
from fewsight.learners.mkl import Task, Weighted, learn_l1, learn_l2
from fewsight.metrics import accuracy_per_class

Cell = dict[str, Any]
LEARNERS: dict[str, Callable[..., list[Weighted]]] = {"l1": learn_l1, "l2": learn_l2}
GAPS = {"l1": 1e-2, "l2": 1e-3}
MARGIN_GAP = 1e-3  # of a machine with a given kernel


def tasks_of(labels: Labels, C: float) -> list[Task]:
    """One class against the rest, in the order of the sorted labels."""
    return [Task(np.where(labels == name, 1.0, -1.0), C) for name in np.unique(labels)]


def machine_error(K: Array, K_test: Array, labels: Labels, test_labels: Labels, C: float) -> float:
    """Mean error per class in percent of support vector machines, one against the rest, with a given kernel."""
    machines = [task.train(K, gap=MARGIN_GAP) for task in tasks_of(labels, C)]
    margins = K_test @ np.stack([machine.dual for machine in machines], axis=1)
    margins += np.array([machine.intercept for machine in machines])
    return _error(margins, labels, test_labels)


def learned_error(
    way: str, grams: Grams, blocks: Sequence[Array], labels: Labels, test_labels: Labels, C: float
) -> tuple[Cell, Array]:
    """Error, kernels in use and the largest gap of l1 or l2, and the weights of each class (c, k)."""
    found = LEARNERS[way](grams, tasks_of(labels, C), gap=GAPS[way])
    weights = np.stack([one.weights for one in found])
    duals = np.stack([one.dual for one in found], axis=1)
    margins = np.tile([one.intercept for one in found], (len(test_labels), 1))
    for number in np.flatnonzero(weights.any(axis=0)):
        margins += blocks[int(number)] @ (duals * weights[:, number])
    cell = {
        "error": _error(margins, labels, test_labels),
        "n_kernels": float((weights > 0).sum(axis=1).mean()),
        "gap": float(max(one.gap for one in found)),
    }
    return cell, weights


def gp_error(K: Array, K_test: Array, labels: Labels, test_labels: Labels) -> Cell:
    """Error and log loss of the Gaussian process with a given kernel."""
    learner = GPClassifier("precomputed").fit(K, labels)
    probabilities = learner.predict_proba(K_test)
    columns = np.searchsorted(learner.classes_, test_labels)
    stated = np.maximum(probabilities[np.arange(len(columns)), columns], 1e-15)
    return {
        "error": 100.0 * (1.0 - accuracy_per_class(test_labels, learner.predict(K_test))),
        "log_loss": float(-np.log(stated).mean()),
    }


def mean_weights(weights: Array) -> Array:
    """How much each kernel counts in the mean over the classes (k,)."""
    return np.asarray((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))


def sums(grams: Sequence[Array], blocks: Sequence[Array], weights: Array) -> tuple[Array, Array]:
    """The weighted sums of training and test matrices."""
    return weighted_sum(grams, weights), weighted_sum(blocks, weights)


def _error(margins: Array, labels: Labels, test_labels: Labels) -> float:
    predicted = np.unique(labels)[margins.argmax(axis=1)]
    return 100.0 * (1.0 - accuracy_per_class(test_labels, predicted))
