"""Log evidence, its gradients, and what is learned from it."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from fewsight._base.errors import InvalidInput
from fewsight.gp import Posterior, learn_noise, learn_weights_and_noise, log_evidence_and_gradients
from fewsight.gp.evidence import _negative_evidence


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


def test_gradients_equal_central_differences(problem, grams, weights):
    evidence = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise)

    def of_weights(w):
        return log_evidence_and_gradients(grams, w, problem.targets, problem.noise).value

    def of_noise(noise):
        return log_evidence_and_gradients(grams, weights, problem.targets, noise).value

    d_weights = [central_difference(of_weights, weights, i) for i in range(3)]
    d_noise = [central_difference(of_noise, problem.noise, i) for i in range(12)]
    np.testing.assert_allclose(evidence.d_weights, d_weights, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(evidence.d_noise, d_noise, rtol=1e-6, atol=1e-6)


def test_gradients_equal_the_explicit_traces(problem, grams, weights):
    evidence = log_evidence_and_gradients(grams, weights, problem.targets, problem.noise)
    inverse = np.linalg.inv(sum(w * K for w, K in zip(weights, grams, strict=True)) + np.diag(problem.noise))
    alpha = inverse @ problem.targets
    for got, K in zip(evidence.d_weights, grams, strict=True):
        assert got == pytest.approx(0.5 * np.trace(alpha.T @ K @ alpha) - 1.5 * np.trace(inverse @ K), rel=1e-8)


def test_the_gradient_that_the_search_follows_is_that_of_what_it_minimises(problem, grams):
    logs, balance = np.array([0.1, -1.0, 0.3, -0.8]), np.linspace(0.5, 1.5, 12)

    def value(at):
        return _negative_evidence(at, grams, problem.targets, balance)[0]

    differences = [central_difference(value, logs, i) for i in range(4)]
    np.testing.assert_allclose(_negative_evidence(logs, grams, problem.targets, balance)[1], differences, rtol=1e-6)


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


def sample_targets(K, noise, n_targets, seed=3):
    rng = np.random.default_rng(seed)
    A = K + np.diag(np.full(len(K), noise))
    return np.linalg.cholesky(A) @ rng.normal(size=(len(K), n_targets))


@pytest.mark.parametrize("balanced", [False, True])
def test_learned_noise_is_the_best_of_a_fine_grid(make_problem, balanced):
    K = make_problem(25).K
    balance = np.random.default_rng(0).uniform(0.3, 1.7, 25) if balanced else np.ones(25)
    targets = sample_targets(K, 0.2 * balance, 4)
    learned = learn_noise(K, targets, balance=balance if balanced else None)
    grid = np.geomspace(0.01, 2.0, 400)
    values = [dense_evidence(K, targets, level * balance) for level in grid]
    assert learned.level == pytest.approx(grid[np.argmax(values)], rel=0.02)
    assert learned.log_evidence == pytest.approx(dense_evidence(K, targets, learned.level * balance), rel=1e-10)
    assert learned.log_evidence >= max(values) - 1e-9
    assert not learned.at_bound


def test_at_the_learned_noise_the_gradient_vanishes(make_problem):
    K = make_problem(25).K
    targets, balance = sample_targets(K, 0.2, 4), np.linspace(0.5, 1.5, 25)
    level = learn_noise(K, targets, balance=balance).level
    d_noise = log_evidence_and_gradients([K], [1.0], targets, level * balance).d_noise
    assert abs(level * d_noise @ balance) < 1e-3


@pytest.mark.parametrize("n", [1, 2, 3])
def test_noise_of_a_few_examples(n):
    K, targets = 0.5 * np.eye(n), np.full((n, 2), 2.0)
    assert learn_noise(K, targets).level == pytest.approx(3.5, rel=1e-4)  # K + level = mean square of the targets


def test_a_kernel_of_zero_leaves_all_to_the_noise():
    learned = learn_noise(np.zeros((4, 4)), np.array([[1.0], [2.0], [2.0], [1.0]]))
    assert learned.level == pytest.approx(2.5, rel=1e-4)


def test_noise_at_a_bound_is_said_so(make_problem):
    K = make_problem(25).K
    targets = sample_targets(K, 0.2, 40)
    below, above = learn_noise(K, targets, bounds=(0.5, 3.0)), learn_noise(K, targets, bounds=(1e-4, 0.05))
    assert (below.level, below.at_bound) == (pytest.approx(0.5), True)
    assert (above.level, above.at_bound) == (pytest.approx(0.05), True)
    inside = learn_noise(K, targets, bounds=(0.19, 0.21))
    assert 0.19 <= inside.level <= 0.21


def test_the_higher_of_two_bumps_is_found():
    # Two groups of eigenvalues and targets: one group wants little noise, the other much.
    K = np.diag([100.0] * 30 + [0.0] * 10 + [0.0] * 10)
    for small, large in [(1e-3, 3.0), (1e-3, 30.0)]:
        targets = np.sqrt([101.0] * 30 + [small] * 10 + [large] * 10)[:, None]
        learned = learn_noise(K, targets, bounds=(1e-6, 1e4))
        values = [dense_evidence(K, targets, level) for level in np.geomspace(1e-6, 1e4, 300)]
        assert learned.log_evidence >= max(values) - 1e-9


def test_a_maximum_far_from_the_middle_is_refined():
    for level in (3e-6, 0.04, 700.0):
        targets = np.full((6, 1), np.sqrt(level))
        assert learn_noise(1e-12 * np.eye(6), targets, bounds=(1e-7, 1e4)).level == pytest.approx(level, rel=1e-4)


def test_an_indefinite_kernel_gets_noise_enough_to_be_positive_definite():
    K = np.diag([1.0, 1.0, 1.0, -0.01])
    learned = learn_noise(K, np.array([[1.0], [1.0], [1.0], [0.0]]))
    assert learned.level > 0.01
    assert np.isfinite(learned.log_evidence)
    with pytest.raises(InvalidInput, match=r"learn_noise: K must be positive semi-definite, .* up to 0\.005"):
        learn_noise(K, np.ones((4, 1)), bounds=(1e-6, 0.005))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"K": np.ones((3, 2))}, "K must be square"),
        ({"targets": np.ones((2, 1))}, "targets must be a matrix of 3 x any, got 2 x 1."),
        ({"targets": np.ones((3, 0))}, "targets must hold at least one number, got none."),
        ({"balance": np.zeros(3)}, "balance must be finite and > 0, got array([0., 0., 0.])."),
        ({"bounds": (1.0, 0.1)}, "bounds must be two finite numbers, 0 < low < high, got (1.0, 0.1)."),
        ({"bounds": (0.0, 1.0)}, "bounds must be two finite numbers, 0 < low < high, got (0.0, 1.0)."),
    ],
)
def test_what_noise_cannot_be_learned_from_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(InvalidInput) as refusal:
        learn_noise(**{"K": np.eye(3), "targets": np.ones((3, 1)), **change})
    assert f"learn_noise: {sentence}" in str(refusal.value)


def test_learned_weights_and_noise_are_at_a_maximum(make_problem):
    K, other = make_problem(40).K, positive(40, 5)
    balance = np.linspace(0.5, 1.5, 40)
    targets = sample_targets(0.8 * K + 0.5 * other, 0.1 * balance, 6)
    learned = learn_weights_and_noise([K, other], targets, balance=balance)
    noise = learned.noise_level * balance
    evidence = log_evidence_and_gradients([K, other], learned.weights, targets, noise)
    assert learned.log_evidence == pytest.approx(evidence.value, rel=1e-10)
    slopes = [*(learned.weights * evidence.d_weights), learned.noise_level * evidence.d_noise @ balance]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-2)
    truth = log_evidence_and_gradients([K, other], [0.8, 0.5], targets, 0.1 * balance).value
    assert learned.log_evidence >= truth
    assert learned.evaluations > 3


def test_a_kernel_that_explains_nothing_gets_next_to_no_weight(make_problem):
    K, useless = make_problem(40).K, positive(40, 6)
    learned = learn_weights_and_noise([K, useless], sample_targets(K, 0.05, 20))
    assert learned.weights[1] < 0.05 * learned.weights[0]
    assert learned.weights[0] == pytest.approx(1.0, abs=0.4)


def test_the_scale_of_a_kernel_moves_into_its_weight(make_problem):
    K, other = make_problem(30).K, positive(30, 5)
    targets = sample_targets(K + other, 0.1, 6)
    plain = learn_weights_and_noise([K, other], targets)
    scaled = learn_weights_and_noise([1000 * K, other / 1000], targets)
    np.testing.assert_allclose(scaled.weights * [1000, 0.001], plain.weights, rtol=1e-2)


def test_a_given_noise_level_stays(make_problem):
    K, other = make_problem(30).K, positive(30, 5)
    targets = sample_targets(K + other, 0.1, 6)
    fixed = learn_weights_and_noise([K, other], targets, noise_level=0.37)
    assert fixed.noise_level == pytest.approx(0.37, rel=1e-12)
    assert fixed.log_evidence <= learn_weights_and_noise([K, other], targets).log_evidence
    evidence = log_evidence_and_gradients([K, other], fixed.weights, targets, 0.37)
    np.testing.assert_allclose(fixed.weights * evidence.d_weights, 0.0, atol=1e-2)


def test_noise_stays_within_its_bounds(make_problem):
    K = make_problem(30).K
    learned = learn_weights_and_noise([K], sample_targets(K, 0.1, 6), noise_bounds=(0.3, 0.6))
    assert learned.noise_level == pytest.approx(0.3, rel=1e-6)


def test_more_starts_cost_more_and_are_never_worse_and_a_seed_repeats_them(make_problem):
    grams = [make_problem(20).K, positive(20, 7, rank=2)]
    targets = sample_targets(grams[0], 0.1, 2)
    one = learn_weights_and_noise(grams, targets)
    many = [learn_weights_and_noise(grams, targets, n_starts=3, random_state=5) for _ in range(2)]
    assert many[0].log_evidence >= one.log_evidence
    assert many[0].evaluations > one.evaluations
    np.testing.assert_array_equal(many[0].weights, many[1].weights)


def test_at_least_one_start_is_asked_for():
    with pytest.raises(InvalidInput, match=r"learn_weights_and_noise: n_starts must be a whole number >= 1, got 0\."):
        learn_weights_and_noise([np.eye(2)], np.ones((2, 1)), n_starts=0)
