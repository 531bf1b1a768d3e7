"""Predictive variance in constant time: a bound that holds, and an estimate that ranks."""

import numpy as np
import pytest

from bags_of_words import X_TEST, X, Y
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight._base.types import State
from fewsight.kernels import HistogramIntersection
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import FastVariance, LazyVariance, formed_gram
from fewsight.persistence import load, save


def test_the_exact_variance_is_that_of_a_dense_reference_and_the_fast_one_ranks_like_it():
    K, K_TEST = HistogramIntersection().gram(X), HistogramIntersection().gram(X_TEST, X)
    learner = HistogramGPClassifier(noise_variance=0.4, tolerance=1e-11).fit(X, Y)
    inverse = np.linalg.inv(K + 0.4 * np.eye(180))
    ones = inverse.sum(axis=1)
    variance = X_TEST.sum(axis=1) - np.einsum("ij,jk,ik->i", K_TEST, inverse, K_TEST)
    variance += (1 - K_TEST @ ones) ** 2 / ones.sum()
    np.testing.assert_allclose(
        learner.exact_variance(X_TEST)[:, 0], learner.posterior_.scale * variance, rtol=1e-6
    )  # tolerance of systems for variances is capped at 1e-3 elsewhere
    fast = learner.variances_.fast
    assert (fast.bound(X_TEST) >= variance - 1e-9).all()
    assert np.corrcoef(fast.of(X_TEST), variance)[0, 1] > 0.8


def test_training_examples_that_are_left_out_are_estimated_within_the_stated_error():
    fast = HistogramGPClassifier(noise_variance=0.4).fit(X, Y).variances_.fast
    error = fast.left_out(fast.fitted_to) - fast.exact
    assert np.sqrt(np.mean(error**2)) < 2 * fast.error
    assert fast.error < 0.5 * fast.exact.std()


def test_a_bin_that_no_training_example_has_counts_as_it_is():
    rows = np.hstack([X, np.zeros((180, 1))])
    fast = HistogramGPClassifier(noise_variance=0.4).fit(rows, Y).variances_.fast
    before, after = (np.hstack([X_TEST, np.full((90, 1), value)]) for value in (0.0, 0.25))
    weight = fast.operator.weights[-1]
    np.testing.assert_allclose(fast.of(after) - fast.of(before), 0.25 * weight, rtol=1e-9)


def test_it_is_fitted_when_somebody_asks_and_comes_back_from_its_state():
    learner = HistogramGPClassifier(noise_variance=0.4).fit(X, Y)
    fast = learner.variances_.fast
    assert learner.variances_.fast is fast
    again = FastVariance.from_state(fast.state(), fast.operator)
    np.testing.assert_array_equal(again.of(X_TEST), fast.of(X_TEST))
    assert LazyVariance(learner.posterior_, 0, again).fast is again


def refuse(*args, **options):
    raise AssertionError("nobody asked for the variance")


@pytest.mark.parametrize("calibrated", [True, False])
def test_learning_deciding_and_saving_solve_no_system_for_the_variance(calibrated, monkeypatch, tmp_path):
    monkeypatch.setattr(FastVariance, "fit", refuse)
    learner = HistogramGPClassifier(noise_variance=0.4, calibrated=calibrated).fit(X, Y)
    learner.predict(X_TEST)
    if calibrated:  # otherwise probabilities are those of the latent values, and need it
        learner.predict_proba(X_TEST)
        learner.is_unknown(X_TEST)
        learner.verdict(X_TEST)
        save(learner, tmp_path / "model")
        load(tmp_path / "model").verdict(X_TEST)
    with pytest.raises(AssertionError, match="nobody asked"):
        learner.latent(X_TEST)


@pytest.mark.parametrize("rule", ["contrast", "contrast+variance"])
@pytest.mark.parametrize("calibrated", [True, False])
def test_a_verdict_is_the_assessment_without_deviations_before_and_after_saving(rule, calibrated, tmp_path):
    learner = HistogramGPClassifier(noise_variance=0.4, unknown_rule=rule, calibrated=calibrated).fit(X, Y)
    save(learner, tmp_path / "model")
    again = load(tmp_path / "model")
    for found in (learner.verdict(X_TEST), again.verdict(X_TEST), again.assess(X_TEST).verdict):
        for one, other in zip(found, learner.assess(X_TEST).verdict, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", ["columns", "bins"])
def test_a_state_of_another_size_is_refused(name):
    fast = HistogramGPClassifier(noise_variance=0.4).fit(X, Y).variances_.fast
    state = fast.state()
    wrong = State(
        state.header, {**state.arrays, name: state.arrays[name][:, :-1] if name == "bins" else np.ones((3, 2))}
    )
    with pytest.raises(FewsightError, match=f"the stored array {name} must be float64 of shape"):
        FastVariance.from_state(wrong, fast.operator)


@pytest.mark.parametrize("error", [FloatingPointError("overflow"), np.linalg.LinAlgError("not positive definite")])
def test_a_posterior_that_allows_for_no_variance_is_refused_in_one_sentence(error, monkeypatch):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr(FastVariance, "fit", failing)
    with pytest.raises(
        InvalidInput, match="the posterior must allow for variances, got one whose numbers are too large"
    ):
        _ = LazyVariance(None, 0).fast


def test_the_estimate_is_the_same_where_the_matrix_was_formed_for_it(monkeypatch):
    plain = HistogramGPClassifier(noise_variance=0.4, preconditioner=0).fit(X, Y).variances_.fast
    formed = []
    monkeypatch.setattr(
        formed_gram, "worth_forming", lambda n, n_numbers, systems, products=0: formed.append(systems) or True
    )
    helped = HistogramGPClassifier(noise_variance=0.4).fit(X, Y).variances_.fast
    assert formed[-1] == 192  # the systems of the variance, after those of training
    np.testing.assert_allclose(helped.exact, plain.exact, rtol=5e-3)
    np.testing.assert_allclose(helped.of(X_TEST), plain.of(X_TEST), rtol=2e-2)
