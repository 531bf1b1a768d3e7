"""Log evidence and its gradients, with the mean and the scale fixed or left open."""

import numpy as np
import pytest
import scipy.linalg
from scipy.stats import multivariate_normal

from fewsight._base.errors import InvalidInput
from fewsight.gp import Posterior, log_evidence_and_gradients


def positive(n, seed, rank=None):
    A = np.random.default_rng(seed).normal(size=(n, rank or n))
    return A @ A.T / A.shape[1]


def dense_evidence(K, targets, noise):
    density = multivariate_normal(np.zeros(len(K)), K + np.diag(np.full(len(K), noise)))
    return sum(density.logpdf(column) for column in targets.T)


@pytest.fixture
def grams(make_problem):
    K = make_problem(12).K
    return [K, np.asfortranarray(positive(12, 1)), positive(12, 2, rank=3)]


@pytest.fixture
def weights():
    return np.array([0.7, 0.2, 1.3])


def test_evidence_is_the_gaussian_density_summed_over_columns(problem, grams, weights):
    value = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise).value
    K = sum(w * K for w, K in zip(weights, grams, strict=True))
    assert value == pytest.approx(dense_evidence(K, problem.targets, problem.noise), rel=1e-10)
    assert value == pytest.approx(Posterior.condition(K, problem.targets, problem.noise).log_evidence, rel=1e-12)


def central_difference(f, x, i, step=1e-5):
    up, down = x.copy(), x.copy()
    up[i] += step
    down[i] -= step
    return (f(up) - f(down)) / (2 * step)


@pytest.mark.parametrize("free_mean", [False, True])
@pytest.mark.parametrize("any_scale", [False, True])
def test_gradients_equal_central_differences(problem, grams, weights, free_mean, any_scale):
    def at(w, noise):
        return log_evidence_and_gradients(grams, w, problem.targets, noise, free_mean=free_mean, any_scale=any_scale)

    evidence = at(weights, problem.noise)
    d_weights = [central_difference(lambda w: at(w, problem.noise).value, weights, i) for i in range(3)]
    d_noise = [central_difference(lambda noise: at(weights, noise).value, problem.noise, i) for i in range(12)]
    np.testing.assert_allclose(evidence.d_weights, d_weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(evidence.d_noise, d_noise, rtol=1e-6, atol=1e-8)


def test_with_a_free_mean_it_is_the_density_of_all_contrasts(problem, grams, weights):
    value = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise, free_mean=True).value
    A = sum(w * K for w, K in zip(weights, grams, strict=True)) + np.diag(problem.noise)
    contrasts = scipy.linalg.null_space(np.ones((1, 12)))  # any orthonormal basis of what sums to zero
    density = multivariate_normal(np.zeros(11), contrasts.T @ A @ contrasts)
    assert value == pytest.approx(sum(density.logpdf(contrasts.T @ column) for column in problem.targets.T), rel=1e-10)


def test_with_a_free_mean_a_constant_changes_nothing(problem, grams, weights):
    plain = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise, free_mean=True)
    moved = log_evidence_and_gradients(
        [K + 5.0 for K in grams], weights, problem.targets + np.array([7.0, 0.0, -2.0]), problem.noise, free_mean=True
    )
    assert moved.value == pytest.approx(plain.value, rel=1e-9)
    np.testing.assert_allclose(moved.d_weights, plain.d_weights, rtol=1e-7)


@pytest.mark.parametrize("free_mean", [False, True])
def test_with_any_scale_it_is_the_evidence_at_the_best_scale(problem, grams, weights, free_mean):
    best = log_evidence_and_gradients(
        grams, weights, problem.targets, problem.noise, free_mean=free_mean, any_scale=True
    )

    def at(scale):
        return log_evidence_and_gradients(
            grams, scale * weights, problem.targets, scale * problem.noise, free_mean=free_mean
        ).value

    assert best.value == pytest.approx(at(best.scale), rel=1e-12)
    assert at(1.01 * best.scale) < best.value > at(best.scale / 1.01)


def test_targets_that_are_all_alike_say_nothing_once_the_mean_is_free():
    evidence = log_evidence_and_gradients([np.eye(3)], [1.0], np.ones((3, 1)), 0.1, free_mean=True, any_scale=True)
    assert np.isfinite([evidence.value, *evidence.d_weights, *evidence.d_noise]).all()


def test_gradients_equal_the_explicit_traces(problem, grams, weights):
    evidence = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise)
    inverse = np.linalg.inv(sum(w * K for w, K in zip(weights, grams, strict=True)) + np.diag(problem.noise))
    alpha = inverse @ problem.targets
    for got, K in zip(evidence.d_weights, grams, strict=True):
        assert got == pytest.approx(0.5 * np.trace(alpha.T @ K @ alpha) - 1.5 * np.trace(inverse @ K), rel=1e-8)


def test_evidence_of_nothing_is_certain(grams, weights):
    nothing = log_evidence_and_gradients(grams, weights, np.zeros((12, 0)), 0.1)
    assert nothing.value == 0.0
    assert not nothing.d_weights.any()
    assert not nothing.d_noise.any()
    empty = log_evidence_and_gradients([np.zeros((0, 0))], [1.0], np.zeros((0, 2)), 0.1)
    assert (empty.value, empty.d_noise.shape) == (0.0, (0,))


def test_one_example_has_the_density_of_one_gaussian():
    evidence = log_evidence_and_gradients([np.array([[2.0]])], [1.5], np.array([[0.7]]), 0.5)
    assert evidence.value == pytest.approx(-0.5 * (0.49 / 3.5 + np.log(2 * np.pi * 3.5)))
    assert evidence.d_noise[0] == pytest.approx(0.5 * (0.49 / 3.5**2 - 1 / 3.5))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grams": []}, "grams must hold at least one matrix, got none."),
        ({"grams": [np.eye(12), np.eye(11)]}, "grams[1] must be a matrix of 12 x 12, got 11 x 11."),
        ({"grams": [np.eye(12), np.triu(np.ones((12, 12)))]}, "grams[1] must be symmetric"),
        ({"weights": [1.0]}, "weights must be a matrix of 2 x 1, got 1 x 1."),
        ({"weights": [1.0, -1.0]}, "weights must be >= 0, got array([ 1., -1.])."),
        ({"targets": np.ones((11, 1))}, "targets must be a matrix of 12 x any, got 11 x 1."),
        ({"noise_variance": -1.0}, "noise_variance must be finite and > 0, got -1.0."),
    ],
)
def test_what_has_no_evidence_is_refused_in_a_sentence(change, sentence):
    arguments = {"grams": [np.eye(12)] * 2, "weights": [1, 1], "targets": np.ones((12, 1)), "noise_variance": 1.0}
    with pytest.raises(InvalidInput) as refusal:
        log_evidence_and_gradients(**{**arguments, **change})
    assert f"log_evidence_and_gradients: {sentence}" in str(refusal.value)
