"""P is above and D below the best value, whatever weights and dual variables they are asked about."""

import numpy as np
import pytest

from fewsight.gp import GramList
from fewsight.learners.mkl import Weighted, l1_values, l2_values, learn_l1, learn_l2


def values(task, grams, weights, which):
    found = task.train(np.tensordot(weights, grams, axes=1), gap=1e-9)
    forms = np.array([0.5 * found.dual @ K @ found.dual for K in grams])
    return which(task, weights, found.dual, found.margins, forms), forms


def test_the_gap_of_exact_machines_is_the_one_of_the_paper(problem):
    grams, (task, *_) = problem
    weights = np.random.default_rng(0).dirichlet(np.ones(12))
    (P, D), T = values(task, grams, weights, l1_values)
    assert np.isclose(P - D, T.max() - weights @ T, rtol=1e-4)
    (P, D), T = values(task, grams, weights, l2_values)
    assert np.isclose(P - D, ((weights - T / 2) ** 2).sum(), rtol=1e-4)


@pytest.mark.parametrize(("which", "learn"), [(l1_values, learn_l1), (l2_values, learn_l2)])
def test_the_best_value_lies_between_them(problem, which, learn):
    grams, (task, *_) = problem
    (best,) = learn(GramList(grams), [task], gap=1e-7)
    for seed in range(5):
        weights = np.random.default_rng(seed).dirichlet(np.ones(12))
        (P, D), _ = values(task, grams, weights, which)
        assert best.primal + 1e-6 >= D
        assert best.bound - 1e-6 <= P


def test_gap_and_threshold_are_read_off():
    found = Weighted(np.ones(1), np.zeros(2), 0.0, np.array([1.0, 3.0]), 10.0, 9.0, 1, 1)
    assert np.isclose(found.gap, 0.1)
    assert found.threshold == 3.0
