"""Weights and noise that maximise the penalised evidence."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.gp import PENALTIES, Penalty, learn_weights_and_noise, log_evidence_and_gradients
from fewsight.gp.combination import _Search


def positive(n, seed, rank=None):
    A = np.random.default_rng(seed).normal(size=(n, rank or n))
    return A @ A.T / A.shape[1]


def sample_targets(K, noise, n_targets, seed=3):
    rng = np.random.default_rng(seed)
    A = K + np.diag(np.full(len(K), noise))
    return np.linalg.cholesky(A) @ rng.normal(size=(len(K), n_targets))


def central_difference(f, x, i, step=1e-5):
    up, down = x.copy(), x.copy()
    up[i] += step
    down[i] -= step
    return (f(up) - f(down)) / (2 * step)


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("free_mean", [False, True])
@pytest.mark.parametrize("fixed_noise", [None, 0.3])
def test_the_gradient_that_the_search_follows_is_that_of_what_it_minimises(make_problem, kind, free_mean, fixed_noise):
    problem = make_problem(12)
    grams, balance = [problem.K, positive(12, 1), 30 * positive(12, 2, rank=3)], np.linspace(0.5, 1.5, 12)
    search = _Search(grams, problem.targets, balance, Penalty(kind, 0.2), free_mean, fixed_noise)
    place = np.array([0.1, -1.0, 0.3] if fixed_noise else [0.1, -1.0, 0.3, -0.8])
    differences = [central_difference(lambda at: search.cost(at)[0], place, i) for i in range(len(place))]
    np.testing.assert_allclose(search.cost(place)[1], differences, rtol=1e-6, atol=1e-9)


def test_a_penalty_costs_what_it_says():
    logs = np.log([0.5, 2.0, 1.0])
    assert Penalty("none", 3.0).cost(logs)[0] == 0.0
    assert Penalty("l1", 3.0).cost(logs)[0] == pytest.approx(3.0 * 3.5)
    assert Penalty("l2", 3.0).cost(logs)[0] == pytest.approx(3.0 * 5.25)
    assert Penalty("even", 3.0).cost(logs)[0] == pytest.approx(3.0 * 2 * np.log(2) ** 2)
    assert Penalty("even", 3.0).cost(logs + 1.7)[0] == pytest.approx(3.0 * 2 * np.log(2) ** 2)


def test_a_strong_even_penalty_gives_the_average_and_strong_l1_and_l2_little_weight(make_problem):
    K, other = make_problem(40).K, positive(40, 6)
    targets = sample_targets(K, 0.05, 20)
    even = learn_weights_and_noise([K, 5 * other], targets, penalty=Penalty("even", 100.0))
    units = even.weights * [np.diag(K).mean(), 5 * np.diag(other).mean()]
    assert units[1] == pytest.approx(units[0], rel=1e-2)
    free = learn_weights_and_noise([K, other], targets).weights
    for kind in ("l1", "l2"):
        assert (
            learn_weights_and_noise([K, other], targets, penalty=Penalty(kind, 100.0)).weights.sum() < 0.1 * free.sum()
        )


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("free_mean", [False, True])
def test_penalised_shares_do_not_depend_on_the_scale_of_a_kernel(make_problem, kind, free_mean):
    grams = [make_problem(30).K, positive(30, 5)]
    targets = sample_targets(sum(grams), 0.1, 6)
    settings = {"penalty": Penalty(kind, 1e-3), "free_mean": free_mean}
    plain = learn_weights_and_noise(grams, targets, **settings)
    scaled = learn_weights_and_noise([1e4 * grams[0], grams[1] / 1e3], targets, **settings)
    np.testing.assert_allclose(scaled.weights * [1e4, 1e-3], plain.weights, rtol=1e-6)
    assert scaled.noise_level == pytest.approx(plain.noise_level, rel=1e-6)


def test_a_free_mean_keeps_a_constant_kernel_from_explaining_what_most_targets_share(make_problem):
    problem = make_problem(40)
    alike = np.full((40, 40), 0.9) + 0.1 * np.eye(40)
    targets = sample_targets(problem.K, 0.05, 5) - 10.0
    zero = learn_weights_and_noise([problem.K, alike], targets)
    free = learn_weights_and_noise([problem.K, alike], targets, free_mean=True)
    assert zero.weights[1] > 5 * zero.weights[0]
    without = learn_weights_and_noise([problem.K, alike], targets + 10.0, free_mean=True)
    np.testing.assert_allclose(free.weights, without.weights, rtol=1e-2)
    assert free.weights[0] == pytest.approx(1.0, abs=0.5)


def test_a_search_that_begins_at_the_answer_is_short(make_problem):
    grams = [make_problem(40).K, positive(40, 5)]
    targets = sample_targets(sum(grams), 0.1, 6)
    cold = learn_weights_and_noise(grams, targets)
    warm = learn_weights_and_noise(grams, targets, start=cold)
    assert warm.evaluations < cold.evaluations / 2
    np.testing.assert_allclose(warm.weights, cold.weights, rtol=1e-2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_starts": 0}, "learn_weights_and_noise: n_starts must be a whole number >= 1, got 0."),
        ({"noise_bounds": (1.0, 0.1)}, "noise_bounds must be two finite numbers, 0 < low < high, got (1.0, 0.1)."),
        ({"noise_level": 0.0}, "noise_level must be a finite number > 0, got 0.0."),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(change, sentence):
    with pytest.raises(InvalidInput) as refusal:
        learn_weights_and_noise([np.eye(2)], np.ones((2, 1)), **change)
    assert sentence in str(refusal.value)


def test_a_penalty_of_an_unknown_kind_or_a_negative_strength_is_refused():
    with pytest.raises(InvalidInput, match="Penalty: kind must be one of 'none', 'l1', 'l2', 'even', got 'l3'"):
        Penalty("l3")
    with pytest.raises(InvalidInput, match="Penalty: strength must be a number from 0 to 1e\\+12, got -1"):
        Penalty("l1", -1)


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
    prior_variance = learned.weights[0] * np.diag(K).mean()
    assert learned.noise_level == pytest.approx(0.3 * prior_variance, rel=1e-6)


def test_more_starts_cost_more_and_are_never_worse_and_a_seed_repeats_them(make_problem):
    grams = [make_problem(20).K, positive(20, 7, rank=2)]
    targets = sample_targets(grams[0], 0.1, 2)
    one = learn_weights_and_noise(grams, targets)
    many = [learn_weights_and_noise(grams, targets, n_starts=3, random_state=5) for _ in range(2)]
    assert many[0].log_evidence >= one.log_evidence
    assert many[0].evaluations > one.evaluations
    np.testing.assert_array_equal(many[0].weights, many[1].weights)
