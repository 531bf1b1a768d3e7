"""The span bound: its slopes, its machines, and what its weights find."""

import numpy as np
import pytest
from sklearn.svm import SVC

from fewsight._base.errors import InvalidInput
from fewsight.kernels import Columns, Linear
from fewsight.learners import SpanBoundClassifier
from fewsight.learners.span_bound import SpanBound, lowest, trained


def planted(rng, n=60, k=8, informative=(2, 5), d=2):
    """k models of d scores each; two of them differ between the classes. Their squared distances, and the targets."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    models = rng.normal(size=(k, n, d))
    for number in informative:
        models[number] += 1.2 * y[:, None]
    return models, y


def distances_of(models):
    return ((models[:, :, None] - models[:, None]) ** 2).sum(axis=3)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_equal_finite_differences(temperature, seed):
    models, y = planted(np.random.default_rng(seed), n=30, k=3, informative=(0,))
    bound = SpanBound(distances_of(models), y, temperature, 0.1)
    at = np.array([-1.0, -2.0, -1.5, np.log(5.0)])
    found = bound.at(at[:-1], at[-1])
    step, expected = 1e-5, []
    for place in range(4):
        values = []
        for by in (1, -1):
            moved = at.copy()
            moved[place] += by * step
            other = bound.at(moved[:-1], moved[-1])
            np.testing.assert_array_equal(other.machine.support, found.machine.support)  # nobody joined or left
            values.append(other.value)
        expected.append((values[0] - values[1]) / (2 * step))
    np.testing.assert_allclose(found.slopes, expected, atol=1e-6 * max(1e-3, np.abs(expected).max()))


def test_spans_are_left_out_margins_where_nobody_joins_or_leaves():
    """Without smoothing, alpha_n S_n^2 = 1 - y_n f_n with example n left out, if the support vectors stay. [Chapelle2002]"""
    models, y = planted(np.random.default_rng(3), n=24, k=1, informative=(0,))
    K, penalty = np.exp(-0.5 * distances_of(models)[0]), 0.05  # so soft that all are support vectors
    machine = trained(K, y, penalty)
    assert len(machine.support) == 24
    whole = np.ones((25, 25))
    whole[:24, :24] = K + np.eye(24) / penalty
    whole[24, 24] = 0.0
    spans = 1.0 / np.linalg.inv(whole).diagonal()[:-1]
    for out in range(24):
        rest = np.delete(np.arange(24), out)
        other = trained(K[np.ix_(rest, rest)], y[rest], penalty)
        if len(other.support) == 23:
            margin = y[out] * (K[out, rest] @ other.dual + other.intercept)
            assert 1.0 - margin == pytest.approx(abs(machine.dual[out]) * spans[out], rel=1e-6)


def test_a_machine_is_libsvms_on_the_kernel_with_a_ridge():
    models, y = planted(np.random.default_rng(0), n=40, k=1, informative=(0,))
    K = np.exp(-0.5 * distances_of(models)[0])
    machine = trained(K, y, 3.0)
    peer = SVC(C=1e9, kernel="precomputed", tol=1e-9).fit(K + np.eye(40) / 3.0, y)
    dual = np.zeros(40)
    dual[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(machine.dual, dual, atol=1e-5)
    assert machine.intercept == pytest.approx(peer.intercept_[0], abs=1e-5)


def test_planted_models_get_over_half_of_the_weight():
    shares = []
    for seed in range(10):
        models, y = planted(np.random.default_rng(seed))
        found = lowest([SpanBound(distances_of(models), y)], 30)
        assert found.values[-1] <= found.values[0]
        assert found.path.shape == (len(found.values), 8)
        np.testing.assert_allclose(found.path[-1], found.weights)
        shares.append(found.weights[[2, 5]].sum() / found.weights.sum())
    assert np.mean(shares) > 0.5


def test_a_weight_for_each_feature_finds_the_one_that_tells():
    shares, right = [], []
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(80, 4))
        y = np.where(X[:, 2] > 0, "right", "left")
        learner = SpanBoundClassifier([Columns((column,), Linear()) for column in range(4)]).fit(X[:50], y[:50])
        shares.append(learner.shares(4))
        right.append(np.mean(learner.predict(X[50:]) == y[50:]))
    np.testing.assert_allclose(np.sum(shares, axis=1), 1)
    assert np.mean(shares, axis=0)[2] > 0.6
    assert np.mean(right) > 0.9


def test_distances_of_linear_kernels_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    learner = SpanBoundClassifier(Linear(), max_steps=0).fit(X, y)
    scale = (X**2).sum(axis=1).mean()
    K = np.exp(-0.5 * learner.weights_[0] * ((X[:, None] - X) ** 2).sum(axis=2) / scale)
    expected = K @ learner.dual_weights_ + learner.intercepts_
    np.testing.assert_allclose(learner.latent(X).mean, expected, atol=1e-9)


def test_wrong_options_are_one_sentence():
    with pytest.raises(InvalidInput, match="SpanBoundClassifier: eta must be a number from 1e-06 to 1e"):
        SpanBoundClassifier(Linear(), eta=0).fit(np.eye(4), [0, 1, 0, 1])
