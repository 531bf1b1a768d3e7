"""Weights with a quadratic penalty, against a generic solver of the dual and against their own gap."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fewsight.gp import GramList, GramsOnRequest, GramStack
from fewsight.learners.mkl import Task, l2_values, learn_l2


def dual_by_scipy(grams, signs, C):
    """The largest sum(alpha) - sum_k T_k^2 / 4."""
    n, Q = len(signs), np.array([np.outer(signs, signs) * K for K in grams])

    def minus(alpha):
        products = Q @ alpha
        T = 0.5 * products @ alpha
        return float(T @ T / 4 - alpha.sum()), 0.5 * T @ products - 1.0

    return -minimize(
        minus,
        np.full(n, 0.01),
        jac=True,
        bounds=[(0.0, C)] * n,
        constraints=[{"type": "eq", "fun": lambda alpha: signs @ alpha, "jac": lambda alpha: signs}],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2_000},
    ).fun


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_a_generic_solver_finds_the_same_value(problem, C):
    grams, (task, *_) = problem
    small = [K[:30, :30] for K in grams[:5]]
    signs = task.signs[:30]
    (found,) = learn_l2(GramList(small), [Task(signs, C)], gap=1e-7)
    expected = dual_by_scipy(small, signs, C)
    assert np.isclose(found.primal, expected, rtol=1e-5)
    assert np.isclose(found.bound, expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["list", "stack", "on request"])
def test_the_gap_is_what_was_asked_for(problem, kind):
    grams, tasks = problem
    same = {
        "list": GramList(grams),
        "stack": GramStack.of(grams),
        "on request": GramsOnRequest(lambda number: grams[number], len(grams), 80),
    }[kind]
    for task, found in zip(tasks, learn_l2(same, tasks, gap=1e-4), strict=True):
        K = same.weighted_sum(found.weights)
        forms = np.array([0.5 * found.dual @ each @ found.dual for each in same])
        P, D = l2_values(task, found.weights, found.dual, K @ found.dual + found.intercept, forms)
        assert P - D <= 1e-4 * P * (1 + 1e-3)
        assert (found.weights > 0).all()
        assert ((found.weights - forms / 2) ** 2).sum() <= 1e-4 * P  # the same gap as the paper has it


def test_few_rounds_suffice(problem):
    grams, tasks = problem
    assert max(found.n_rounds for found in learn_l2(GramList(grams), tasks[:2], gap=1e-3)) <= 8
