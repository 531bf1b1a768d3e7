"""Quadratic programs with bounds and a sum, against their definition and their optimality conditions."""

import numpy as np
import pytest

from fewsight._compiled import pairwise_descent


def program(n, seed=0):
    """K, t, bounds and a feasible start with a sum that is not zero."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n + 2))
    low, high = -rng.random(n), rng.random(n)
    return A @ A.T + 0.1 * np.eye(n), rng.normal(size=n), low, high, 0.3 * low + 0.2 * high


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
def test_compiled_descend_equals_its_reference(n):
    K, t, low, high, start = program(n)
    slow, fast = start.copy(), start.copy()
    pairwise_descent.descend_reference(K, t, low, high, slow, 1e-10, 100_000)
    gradient, violation, _ = pairwise_descent.descend(K, t, low, high, fast, 1e-10, 100_000)
    np.testing.assert_allclose(fast, slow, atol=1e-8)
    np.testing.assert_allclose(gradient, K @ fast - t, atol=1e-8)
    assert violation <= 1e-10


def test_bounds_and_sum_are_kept_and_no_pair_is_worth_a_step():
    K, t, low, high, a = program(30, seed=1)
    total = a.sum()
    gradient, violation, steps = pairwise_descent.descend(K, t, low, high, a, 1e-9, 100_000)
    assert (low <= a).all()
    assert (a <= high).all()
    assert np.isclose(a.sum(), total, atol=1e-12)
    assert gradient[a > low].max() - gradient[a < high].min() <= 1e-9
    assert violation <= 1e-9
    assert 0 < steps < 100_000


@pytest.mark.parametrize("loop", [pairwise_descent.descend, pairwise_descent.descend_reference])
def test_the_steps_that_are_allowed_are_not_exceeded(loop):
    K, t, low, high, a = program(30)
    _, violation, steps = loop(K, t, low, high, a, 1e-12, 3)
    assert steps == 3
    assert violation > 1e-12


@pytest.mark.parametrize("loop", [pairwise_descent.descend, pairwise_descent.descend_reference])
def test_where_nothing_can_move_nothing_moves(loop):
    K, t, *_ = program(5)
    a = np.full(5, 0.5)
    _, violation, steps = loop(K, t, a.copy(), a.copy(), a, 1e-9, 10)
    assert (a == 0.5).all()
    assert violation == steps == 0
