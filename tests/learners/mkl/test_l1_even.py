"""Equal weights of the kernels that l1 chooses: the machine against a generic solver, the gap by its definition."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fewsight.gp import GramList, GramStack
from fewsight.learners.mkl import Task, l1_values, learn_l1, learn_l1_even


def dual_by_scipy(K, signs, C):
    """The largest sum(alpha) - alpha' Q alpha / 2 with one kernel."""
    n, Q = len(signs), np.outer(signs, signs) * K
    return -minimize(
        lambda alpha: (float(alpha @ Q @ alpha / 2 - alpha.sum()), Q @ alpha - 1.0),
        np.full(n, 0.01),
        jac=True,
        bounds=[(0.0, C)] * n,
        constraints=[{"type": "eq", "fun": lambda alpha: signs @ alpha, "jac": lambda alpha: signs}],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2_000},
    ).fun


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_a_generic_solver_finds_the_same_machine(problem, C):
    grams, (task, *_) = problem
    small = [K[:30, :30] for K in grams[:5]]
    same = Task(task.signs[:30], C)
    (chosen,) = learn_l1(GramList(small), [same], gap=1e-7)
    (found,) = learn_l1_even(GramList(small), [same], gap=1e-7)
    kept = chosen.weights > 0
    np.testing.assert_allclose(found.weights, kept / kept.sum())
    expected = dual_by_scipy(np.mean([K for K, one in zip(small, kept, strict=True) if one], axis=0), same.signs, C)
    assert np.isclose(found.primal, expected, rtol=1e-5)
    assert np.isclose(np.abs(found.dual).sum() - found.weights @ found.forms, expected, rtol=1e-5)


@pytest.mark.parametrize("kind", [GramList, GramStack.of])
def test_the_gap_is_that_of_equal_weights_in_the_objective_of_l1(problem, kind):
    grams, tasks = problem
    same = kind(grams)
    best = learn_l1(same, tasks, gap=1e-6)
    for task, lowest, found in zip(tasks, best, learn_l1_even(same, tasks, gap=1e-6), strict=True):
        forms = np.array([0.5 * found.dual @ K @ found.dual for K in same])
        margins = same.weighted_sum(found.weights) @ found.dual + found.intercept
        P, D = l1_values(task, found.weights, found.dual, margins, forms)
        assert np.isclose(found.gap, (P - D) / P, rtol=1e-4, atol=1e-9)
        assert found.primal >= lowest.bound * (1 - 1e-9), "no weights are better than the best"
