"""Probabilities mean what they say, learned from training examples alone."""

import numpy as np
import pytest
from sklearn.datasets import make_circles

from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, SparseGPClassifier
from fewsight.learners.calibration import Calibration, _contrast, _Surprise, fit_calibration
from fewsight.metrics import calibration_error, log_loss

KERNEL = RBF(scale=3.0)


def test_calibrated_probabilities_are_nearer_to_the_truth_than_the_posteriors_own(overlapping_blobs):
    X, y, X_test, y_test = overlapping_blobs(0)
    plain = GPClassifier(KERNEL, noise_variance="evidence", calibrated=False).fit(X, y)
    ours = GPClassifier(KERNEL, noise_variance="evidence").fit(X, y)
    assert not ours.calibration_.from_prior
    before, after = (calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (plain, ours))
    assert after < 0.08 < before
    loss_before, loss_after = (log_loss(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (plain, ours))
    assert loss_after < loss_before


def test_calibration_also_helps_with_the_noise_that_is_chosen_by_itself(overlapping_blobs):
    X, y, X_test, y_test = overlapping_blobs(0)
    learners = [GPClassifier(KERNEL, calibrated=calibrated).fit(X, y) for calibrated in (False, True)]
    errors = [calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in learners]
    losses = [log_loss(y_test, gp.predict_proba(X_test), gp.classes_) for gp in learners]
    assert errors[1] < errors[0]
    assert losses[1] < losses[0]


def test_calibration_does_not_change_the_decision(overlapping_blobs):
    X, y, X_test, _ = overlapping_blobs(1)
    ours = GPClassifier(KERNEL).fit(X, y)
    np.testing.assert_array_equal(ours.classes_[ours.predict_proba(X_test).argmax(axis=1)], ours.predict(X_test))


def leaning_means(n=4000, share=0.05):
    """Latent means of two classes that lean to the larger one, as those of a regression of -1 and +1 do."""
    rng = np.random.default_rng(3)
    classes = (rng.random(n) < share).astype(int)
    latent = 2 * share - 1 + 0.15 * classes + 0.05 * rng.standard_normal(n)
    return np.column_stack([-latent, latent]), classes


def test_where_latent_values_lean_to_the_larger_class_probabilities_do_not():
    mean, classes = leaning_means()
    shares = np.bincount(classes) / len(classes)
    assert (mean.argmax(axis=1) == 0).all()
    plain, leaning = fit_calibration(mean, classes), fit_calibration(mean, classes, shares)
    losses = [log_loss(classes, each.probabilities(mean), (0, 1)) for each in (plain, leaning)]
    assert losses[1] < 0.7 * losses[0]
    assert leaning.probabilities(mean)[:, 1].mean() == pytest.approx(shares[1], rel=0.05)
    even = fit_calibration(mean, classes, shares, balanced=True).scores(mean).argmax(axis=1)
    assert min(np.mean(even[classes == c] == c) for c in (0, 1)) > 0.9  # the two overlap at 1.5 deviations


def test_classes_of_one_size_lean_nowhere():
    mean, classes = leaning_means()
    assert fit_calibration(mean, classes, np.array([0.5, 0.5])) == fit_calibration(mean, classes)
    later = Calibration(2.0, 0.0, 5, (1.0, -1.0)).scores(np.zeros((1, 3)))  # with a class that came after it was fitted
    np.testing.assert_array_equal(later, [[1.0, -1.0, 0.0]])


@pytest.mark.parametrize("leaning", [None, np.array([0.8, -0.3, -0.5])])
def test_the_gradient_of_the_calibration_is_that_of_finite_differences(leaning):
    rng = np.random.default_rng(0)
    mean, classes = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    surprise = _Surprise(mean, np.log(_contrast(mean)), classes, leaning, rng.random(20))
    at = np.array([0.4, -0.2, 1.3][: 2 if leaning is None else 3])
    steps = 1e-6 * np.eye(len(at))
    expected = [(surprise(at + step)[0] - surprise(at - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(surprise(at)[1], expected, rtol=1e-6)


def test_one_example_per_class_falls_back_to_the_prior_and_says_so(overlapping_blobs):
    X, y, X_test, _ = overlapping_blobs(2, per_class=1)
    gp = GPClassifier(KERNEL).fit(X, y)
    assert gp.calibration_.from_prior
    assert gp.calibration_.bend == 0
    assert np.isfinite(gp.predict_proba(X_test)).all()
    assert not gp.is_unknown(X_test).any()  # there is nothing to set a threshold by


@pytest.mark.parametrize("kind", [GPClassifier, SparseGPClassifier])
def test_rows_of_two_numbers_that_lie_densely_are_no_duplicates_of_each_other(kind):
    X, y = make_circles(1_200, noise=0.15, factor=0.5, random_state=0)
    model = kind(RBF(scale=0.6)).fit(X[:400], y[:400])
    assert model.calibration_.n_examples >= 300
    assert log_loss(y[400:], model.predict_proba(X[400:]), model.classes_) < 0.2
    assert model.is_unknown(X[400:]).mean() < 0.1


def test_near_duplicates_of_training_images_do_not_inflate_confidence(overlapping_blobs):
    """Every example ten times: leaving out one copy would leave nine to answer for it."""
    X, y, X_test, y_test = overlapping_blobs(3)
    copies = np.repeat(np.arange(len(y)), 10)
    jitter = np.random.default_rng(0).normal(scale=0.01, size=(len(copies), X.shape[1]))
    once = GPClassifier(KERNEL, noise_variance=0.5).fit(X, y)
    often = GPClassifier(KERNEL, noise_variance=5.0).fit(X[copies] + jitter, y[copies])
    errors = [calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (once, often)]
    assert errors[1] < errors[0] + 0.05
    ungrouped = often.posterior_.leave_one_out()
    naive = fit_calibration(ungrouped.mean, often.posterior_.targets.argmax(axis=1))
    assert naive.sharpness > often.calibration_.sharpness + 0.3


def test_adding_keeps_the_calibration_until_it_is_learned_again(overlapping_blobs):
    X, y, X_test, _ = overlapping_blobs(5)
    gp = GPClassifier(KERNEL, noise_variance=0.3).fit(X[:48], y[:48])
    before = gp.calibration_
    gp.add(X[48:], y[48:])
    assert gp.calibration_ == before
    gp.recalibrate()
    whole = GPClassifier(KERNEL, noise_variance=0.3).fit(X, y)
    assert gp.calibration_.sharpness == pytest.approx(whole.calibration_.sharpness, abs=0.01)
    np.testing.assert_allclose(gp.unknown_score(X_test), whole.unknown_score(X_test), atol=0.05)
