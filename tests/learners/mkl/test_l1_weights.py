"""Weights that add up to 1, against a generic solver of the dual and against their own gap."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from fewsight.gp import GramList, GramsOnRequest, GramStack
from fewsight.learners.mkl import Task, l1_values, l1_weights, learn_l1, learn_l1_even


def dual_by_scipy(grams, signs, C):
    """The largest sum(alpha) - lambda with alpha^T Y K_k Y alpha / 2 <= lambda, by sequential quadratic programming."""
    n, Q = len(signs), [np.outer(signs, signs) * K for K in grams]
    limits = [
        {"type": "eq", "fun": lambda z: signs @ z[:n], "jac": lambda z: np.append(signs, 0.0)},
        {
            "type": "ineq",
            "fun": lambda z: np.array([z[n] - 0.5 * z[:n] @ q @ z[:n] for q in Q]),
            "jac": lambda z: np.array([np.append(-q @ z[:n], 1.0) for q in Q]),
        },
    ]
    slope = np.append(-np.ones(n), 1.0)
    return -minimize(
        lambda z: float(slope @ z),
        np.append(np.full(n, 0.0), 1.0),
        jac=lambda z: slope,
        bounds=[(0.0, C)] * n + [(0.0, None)],
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2_000},
    ).fun


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_a_generic_solver_finds_the_same_value(problem, C):
    grams, (task, *_) = problem
    small = [K[:30, :30] for K in grams[:5]]
    signs = task.signs[:30]
    (found,) = learn_l1(GramList(small), [Task(signs, C)], gap=1e-7)
    expected = dual_by_scipy(small, signs, C)
    assert np.isclose(found.primal, expected, rtol=1e-5)
    assert np.isclose(found.bound, expected, rtol=1e-5)


@pytest.mark.parametrize("gap", [1e-2, 1e-6])
@pytest.mark.parametrize("kind", ["list", "stack", "on request"])
def test_the_gap_is_what_was_asked_for(problem, gap, kind):
    grams, tasks = problem
    stack = GramStack.of(grams)
    same = {
        "list": GramList(grams),
        "stack": stack,
        "on request": GramsOnRequest(lambda number: grams[number], len(grams), 80),
    }[kind]
    for task, found in zip(tasks, learn_l1(same, tasks, gap=gap), strict=True):
        K = same.weighted_sum(found.weights)
        forms = np.array([0.5 * found.dual @ each @ found.dual for each in same])
        P, D = l1_values(task, found.weights, found.dual, K @ found.dual + found.intercept, forms)
        assert gap * P * (1 + 1e-6) >= P - D
        assert np.isclose(found.gap, (P - D) / P, atol=1e-9)
        assert np.isclose(found.weights.sum(), 1)
        assert (found.weights >= 0).all()
        assert np.isclose(found.dual.sum(), 0, atol=1e-9 * task.C)
        assert (found.dual * task.signs >= 0).all()
        assert (np.abs(found.dual) <= task.C).all()


def test_few_kernels_have_weight_and_the_right_one_most(problem):
    grams, (task, *_) = problem
    (found,) = learn_l1(GramList(grams), [task], gap=1e-6)
    assert found.weights.argmax() == 0
    assert np.count_nonzero(found.weights) < 12


@pytest.mark.parametrize("seed", [1, 3, 4, 6, 7])
def test_a_kernel_whose_weight_another_takes_has_none_at_all(seed):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(30) % 5 == 0, 1.0, -1.0)
    X = rng.normal(size=(30, 20)) + signs[:, None] * (np.arange(20) < 5)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    grams = GramList([np.exp(-squared / width) for width in np.geomspace(5, 5_000, 25)])
    (found,) = learn_l1(grams, [Task(signs, 1_000.0)], gap=1e-3)
    assert sorted(found.weights)[-2:] == [0.0, 1.0]
    (even,) = learn_l1_even(grams, [Task(signs, 1_000.0)], gap=1e-3)
    np.testing.assert_array_equal(even.weights, found.weights)


def test_one_kernel_gives_libsvms_margins(problem):
    grams, (task, *_) = problem
    (found,) = learn_l1(GramList(grams[:1]), [task], gap=1e-8)
    machine = SVC(C=task.C, kernel="precomputed", tol=1e-10).fit(grams[0], task.signs)
    assert found.weights.tolist() == [1.0]
    np.testing.assert_allclose(grams[0] @ found.dual + found.intercept, machine.decision_function(grams[0]), atol=1e-6)


def test_a_search_goes_on_with_more_kernels(problem):
    grams, tasks = problem
    few = learn_l1(GramList(grams[4:]), tasks, gap=1e-5)
    more = learn_l1(GramList(grams[4:] + grams[:4]), tasks, gap=1e-5, starts=few)
    anew = learn_l1(GramList(grams[4:] + grams[:4]), tasks, gap=1e-5)
    for before, after, other in zip(few, more, anew, strict=True):
        assert after.primal <= before.primal * (1 + 1e-5)
        assert np.isclose(after.primal, other.primal, rtol=2e-5)


def test_the_working_sets_leave_nothing_out_of_many_kernels_and_examples():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 20))
    signs = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    grams = [np.exp(-np.abs(X[:, [d]] - X[:, d]) * s) for d in range(20) for s in (0.3, 1.0, 3.0)]
    (found,) = learn_l1(GramList(grams), [Task(signs, 10.0)], gap=1e-4)
    assert found.gap <= 1e-4
    assert set(np.argsort(-found.weights.reshape(20, 3).sum(axis=1))[:2]) == {0, 1}
    assert found.n_rounds < 20


def test_little_memory_changes_nothing(problem, monkeypatch):
    grams, tasks = problem
    whole = learn_l1(GramList(grams), tasks, gap=1e-4)
    monkeypatch.setattr(l1_weights, "MOST_BYTES", 1)
    for one, other in zip(learn_l1(GramList(grams), tasks, gap=1e-4), whole, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
