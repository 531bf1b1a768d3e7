"""Kernel and noise that are chosen on the training examples."""

import numpy as np
import pytest

from bags_of_words import X_TEST, Y_TEST, X, Y
from fewsight._base.errors import FewsightError
from fewsight.gp import log_evidence_and_gradients, targets_of_columns
from fewsight.kernels import HistogramIntersection, HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import balance_of, choose_kernel_and_noise, formed_gram
from fewsight.learners.histograms.formed_gram import worth_forming
from fewsight.learners.histograms.model_selection import cost_of_learning, evenly_spaced, least_loss, unit

CLASSES = np.unique(Y, return_inverse=True)[1]
NO_GROUPS = np.zeros(60, np.intp)


def chosen(**options):
    settings = HistogramGPClassifier(**options).settings()
    return choose_kernel_and_noise(HistogramOperator.from_rows(X), X, CLASSES, 3, NO_GROUPS, settings)


def test_the_noise_is_the_one_with_the_largest_evidence_over_a_kernel_of_mean_diagonal_one():
    found = chosen()
    K = HistogramIntersection().gram(X)
    K /= K.diagonal().mean()
    assert found.operator.diag().mean() == pytest.approx(1)

    def evidence(level):
        targets = targets_of_columns(CLASSES, 3)
        return log_evidence_and_gradients([K], np.ones(1), targets, level, free_mean=True, any_scale=True).value

    level = found.levels[0]
    assert found.log_evidence == pytest.approx(evidence(level), rel=1e-9)
    assert evidence(level) > max(evidence(0.9 * level), evidence(1.1 * level))
    np.testing.assert_array_equal(found.noise, np.full((180, 1), level))


def test_balance_gives_each_side_of_a_problem_twice_its_share_of_the_noise():
    targets = np.array([[1.0], [-1.0], [-1.0], [-1.0]])
    np.testing.assert_allclose(balance_of(targets), [[0.5], [1.5], [1.5], [1.5]])
    found = chosen(balanced=True, noise_variance=0.4)
    np.testing.assert_allclose(found.noise, 0.4 * balance_of(targets_of_columns(CLASSES, 3)))


def test_what_is_given_is_kept():
    found = chosen(feature_transform="power", transform_parameter=0.5, noise_variance=0.2)
    assert (found.parameter, found.levels.tolist()) == (0.5, [0.2])
    assert found.operator.transform.parameter == 0.5


def test_every_class_has_a_level_of_its_own_where_that_is_asked_for():
    found = chosen(noise_per_class=True)
    assert found.levels.shape == (3,)
    np.testing.assert_array_equal(found.noise[0], found.levels)


def test_a_kernel_that_is_zero_stays_as_it_is():
    nothing = HistogramOperator.from_rows(np.zeros((3, 2)))
    assert unit(nothing) is nothing


def test_columns_are_evenly_spaced():
    assert evenly_spaced(3, 16).tolist() == [0, 1, 2]
    assert evenly_spaced(101, 5).tolist() == [0, 25, 50, 75, 100]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"relevance": "some"}, "HistogramGPClassifier: relevance must be one of 'none', 'evidence', 'channels'"),
        ({"relevance": ["a"]}, "HistogramGPClassifier: relevance must be one of .* or numbers"),
        ({"relevance": [0.0, 0.0]}, "HistogramGPClassifier: relevance must be a list of numbers >= 0, not all zero"),
        ({"relevance_steps": 0}, "HistogramGPClassifier: relevance_steps must be a whole number >= 1, got 0"),
        (
            {"random_state": -1},
            "HistogramGPClassifier: random_state must be a whole number from 0 to 4,294,967,295, got -1",
        ),
    ],
)
def test_settings_that_mean_nothing_get_one_sentence(options, sentence):
    with pytest.raises(FewsightError, match=sentence):
        HistogramGPClassifier(**options).settings()


@pytest.mark.parametrize("transform", ["none", "power", "exponential"])
def test_the_bound_finds_a_noise_near_that_of_the_evidence_and_no_kernel_that_compares_nothing(transform):
    options = {"feature_transform": transform, "transform_parameter": "evidence"}
    learner = HistogramGPClassifier(criterion="bound", **options).fit(X, Y)
    level = HistogramGPClassifier().fit(X, Y).noise_variance_
    assert level / 4 < learner.noise_variance_ < 8 * level
    assert learner.score(X_TEST, Y_TEST) > 0.85
    given = HistogramGPClassifier(criterion="bound", noise_variance=5e3, **options).fit(X, Y)
    assert np.isfinite(given.log_evidence_)


def test_weights_that_are_given_are_used():
    weights = np.r_[np.ones(30), np.zeros(30)]
    some = HistogramGPClassifier(relevance=weights, noise_variance=0.3, quantization_bins=None).fit(X, Y)
    half = HistogramGPClassifier(noise_variance=0.3, quantization_bins=None).fit(X[:, :30], Y)
    np.testing.assert_allclose(some.latent_mean(X_TEST), half.latent_mean(X_TEST[:, :30]), atol=1e-5)


@pytest.mark.parametrize(("gain", "expected"), [(0.5, 0.6), (0.01, 1.0)])
def test_the_plain_kernel_stays_unless_the_gain_is_above_its_standard_error(gain, expected):
    chance = np.random.default_rng(0).normal(size=100)  # of the examples that a parameter of 0.6 happens to suit

    def losses(parameter):
        return 2.0 - np.exp(-20 * (parameter - 0.6) ** 2) * (gain + chance - chance.mean())

    assert least_loss(losses, np.array([0.2, 0.5, 0.7, 1.0, 1.5]), 1.0) == pytest.approx(expected, abs=0.03)


def test_a_transform_that_is_learned_from_left_out_examples_predicts_better():
    rng = np.random.default_rng(5)
    shares = np.random.default_rng(6).dirichlet(np.full(60, 0.5), 4)

    def bursts(n):
        """Words that come in bursts: how often one comes says little, that it comes at all says much."""
        classes = np.arange(n) % 4
        counts = np.array([rng.poisson(12 * (0.4 * shares[c] + 0.6 / 60)) * rng.pareto(0.8, 60) for c in classes])
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9), classes

    (rows, label), (new, truth) = bursts(240), bursts(400)
    plain, power = (HistogramGPClassifier(feature_transform=kind).fit(rows, label) for kind in ("none", "power"))
    assert power.transform_parameter_ < 0.8
    assert power.score(new, truth) > plain.score(new, truth) + 0.03


def test_a_matrix_of_all_pairs_is_formed_where_it_saves_time_and_is_no_larger_than_twice_the_histograms():
    hundred, two = cost_of_learning(np.full(100, 30)), cost_of_learning(np.array([7_000, 7_000]))
    assert worth_forming(3_000, 3_000 * 2_042, *hundred)
    assert not worth_forming(599, 599 * 2_042, *hundred)  # few rows: little to save
    assert not worth_forming(3_000, 3_000 * 250, *hundred)  # more memory than the histograms take
    assert worth_forming(9_078, 9_078 * 2_042, *cost_of_learning(np.full(102, 89)))
    assert not worth_forming(50_000, 50_000 * 2_042, *hundred)
    assert not worth_forming(14_000, 14_000 * 2_042, *two)  # too few systems to pay for it


@pytest.mark.parametrize("options", [{}, {"noise_per_class": True}, {"noise_variance": "left-out"}])
def test_a_learner_that_forms_the_matrix_learns_the_same(options, monkeypatch):
    plain = HistogramGPClassifier(preconditioner=0, tolerance=1e-8, **options).fit(X, Y)
    monkeypatch.setattr(formed_gram, "worth_forming", lambda *_: True)
    formed = []
    monkeypatch.setattr(
        HistogramOperator,
        "rounded",
        lambda self, made=HistogramOperator.rounded: formed.append(made(self)) or formed[0],
    )
    helped = HistogramGPClassifier(tolerance=1e-8, **options).fit(X, Y)
    assert len(formed) == 1
    assert helped.converged_
    assert helped.n_iter_ < plain.n_iter_
    np.testing.assert_allclose(helped.noise_variance_, plain.noise_variance_, rtol=1e-3)
    np.testing.assert_allclose(helped.latent_mean(X_TEST), plain.latent_mean(X_TEST), atol=1e-3)
    np.testing.assert_allclose(helped.predict_proba(X_TEST), plain.predict_proba(X_TEST), atol=5e-3)
    assert helped.posterior_.low_rank is None  # nothing as large as K is kept


def test_calibrating_anew_forms_the_matrix_too_and_lets_it_go(monkeypatch):
    plain = HistogramGPClassifier(preconditioner=0, tolerance=1e-8).fit(X[:150], Y[:150]).add(X[150:], Y[150:])
    helped = HistogramGPClassifier(tolerance=1e-8).fit(X[:150], Y[:150]).add(X[150:], Y[150:])
    asked = []
    monkeypatch.setattr(formed_gram, "worth_forming", lambda *numbers: asked.append(numbers) or True)
    helped.recalibrate()
    plain.recalibrate()
    assert len(asked) == 1
    assert helped.posterior_.low_rank is None
    np.testing.assert_allclose(helped.predict_proba(X_TEST), plain.predict_proba(X_TEST), atol=5e-3)


def test_nothing_is_formed_without_a_preconditioner_or_with_another_kernel(monkeypatch):
    monkeypatch.setattr(formed_gram, "worth_forming", lambda *_: True)
    assert chosen(preconditioner=0).gram is None
    assert chosen(hellinger_share=0.5).gram is None
    assert chosen().gram is not None
