"""The peer that kernel combination is compared with is a fair one: it finds the weights that its objective asks for."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(3)
CLASSES = np.arange(60) % 3
PLACES = 2.0 * np.eye(3)[CLASSES] + RNG.normal(size=(60, 3))


@pytest.fixture
def mkl(monkeypatch):
    """The module, which lies outside the package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import simple_mkl

    return simple_mkl


def gaussian(X, width=2.0):
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * width**2))


RELEVANT = gaussian(PLACES)
NOISES = [gaussian(RNG.normal(size=(60, 3))) for _ in range(3)]
SIGNS = np.where(CLASSES == 0, 1, -1)


def search(mkl, tol=1e-8, C=10.0):
    return mkl.Search([NOISES[0], RELEVANT, *NOISES[1:]], SIGNS, C, tol)


def test_the_relevant_kernel_among_noise_gets_nearly_all_the_weight(mkl):
    found = mkl.learn(search(mkl, C=0.2))  # with a large C noise is used to separate what overlaps
    assert found.converged
    assert found.machine.weights[1] > 0.9
    assert found.machine.weights.sum() == pytest.approx(1.0)


def test_the_objective_falls_with_every_step(mkl):
    for C in (0.1, 1.0, 10.0, 1000.0):
        found = mkl.learn(search(mkl, C=C), gap=1e-6)
        assert len(found.objectives) > 2
        assert (np.diff(found.objectives) < 0).all()


def test_the_gradient_matches_finite_differences(mkl):
    problem = search(mkl, tol=1e-12)
    weights, step = np.array([0.2, 0.4, 0.3, 0.1]), 1e-5
    shifts = step * np.eye(4)
    numeric = [(problem.at(weights + e).objective - problem.at(weights - e).objective) / (2 * step) for e in shifts]
    np.testing.assert_allclose(problem.at(weights).gradient, numeric, rtol=1e-6)


def test_no_weights_on_the_simplex_are_better_than_those_found(mkl):
    problem = search(mkl)
    found = mkl.learn(problem, gap=1e-6).machine
    for weights in np.random.default_rng(0).dirichlet(np.ones(4), size=30):
        assert problem.at(weights).objective > found.objective
    for weights in 0.99 * found.weights + 0.01 * np.eye(4):
        assert problem.at(weights).objective >= found.objective * (1 - 1e-6)


def test_the_direction_of_descent_stays_on_the_simplex(mkl):
    direction = mkl.descent(np.array([0.0, 0.7, 0.3, 0.0]), np.array([-1.0, -3.0, -2.0, -5.0]))
    assert direction.sum() == pytest.approx(0.0)
    assert direction[0] == 0.0  # it would have to fall below zero
    assert direction[3] > 0


def test_all_classes_together_are_told_apart_whatever_the_scale_of_a_kernel(mkl):
    train, test = np.arange(30), np.arange(30, 60)
    kernels = [RELEVANT, NOISES[0]]
    answers = []
    for factor in (1.0, 1e4):
        grams = [factor * kernels[0], kernels[1]]
        model = mkl.SimpleMKL(C=10.0).fit([K[np.ix_(train, train)] for K in grams], CLASSES[train])
        answers.append(model.predict([K[np.ix_(test, train)] for K in grams]))
    assert (answers[0] == CLASSES[test]).mean() > 0.75
    np.testing.assert_array_equal(*answers)
    assert model.weights_.shape == (3, 2)
    assert model.n_machines_ >= 3
