"""What a fitted histogram learner says: how sure it is, and what it decides for."""

import numpy as np
import pytest

from bags_of_words import X_TEST, X, Y, words
from fewsight.learners import HistogramGPClassifier
from fewsight.metrics import accuracy_per_class, log_loss


def test_an_assessment_is_what_the_single_questions_answer():
    learner = HistogramGPClassifier(unknown_rule="contrast+variance").fit(X, Y)
    found, latent = learner.assess(X_TEST), learner.latent(X_TEST)
    np.testing.assert_array_equal(found.latent.mean, latent.mean)
    np.testing.assert_array_equal(found.latent.std, latent.std)
    np.testing.assert_array_equal(found.latent.mean, learner.latent_mean(X_TEST))
    np.testing.assert_array_equal(found.probabilities, learner.predict_proba(X_TEST))
    np.testing.assert_array_equal(found.unknown_score, learner.unknown_score(X_TEST))
    np.testing.assert_array_equal(found.unknown, learner.unknown_score(X_TEST) > found.threshold)


def test_without_calibration_the_largest_mean_decides_and_probabilities_agree_with_it():
    learner = HistogramGPClassifier(calibrated=False, noise_variance=0.4).fit(X, Y)
    decided = learner.latent_mean(X_TEST).argmax(axis=1)
    np.testing.assert_array_equal(learner.predict(X_TEST), learner.classes_[decided])
    np.testing.assert_array_equal(learner.predict_proba(X_TEST).argmax(axis=1), decided)


def test_the_look_up_table_hardly_differs_from_exact_prediction():
    learner = HistogramGPClassifier(noise_variance=0.4).fit(X, Y)
    exact = learner.posterior_.exact_mean(X_TEST)
    np.testing.assert_allclose(learner.latent_mean(X_TEST), exact, atol=0.02)
    assert np.mean(exact.argmax(axis=1) == learner.latent_mean(X_TEST).argmax(axis=1)) > 0.98


def one_in_twenty(seed):
    """Two classes, one of them rare."""
    rows, label = words(1_500, 2, seed, width=40, features=25)
    kept = np.flatnonzero((label == "ant") | (np.arange(1_500) % 20 == 1))
    return rows[kept], label[kept]


def test_balanced_decides_for_a_rare_class_as_often_as_it_should():
    (rows, label), (new, truth) = one_in_twenty(3), one_in_twenty(4)
    usual = {"noise_variance": "evidence"}
    plain, balanced = (HistogramGPClassifier(balanced=each, **usual).fit(rows, label) for each in (False, True))
    assert accuracy_per_class(truth, balanced.predict(new)) > accuracy_per_class(truth, plain.predict(new)) + 0.03
    recalls = [np.mean(balanced.predict(new)[truth == name] == name) for name in ("ant", "bee")]
    assert abs(recalls[0] - recalls[1]) < 0.15
    assert balanced.left_out_accuracy_ == pytest.approx(np.mean(recalls), abs=0.1)


def test_probabilities_of_a_rare_class_are_as_large_as_it_is_frequent():
    (rows, label), (new, truth) = one_in_twenty(3), one_in_twenty(4)
    learner = HistogramGPClassifier().fit(rows, label)
    stated = learner.predict_proba(new)
    share = np.mean(truth == "bee")
    assert stated[:, 1].mean() == pytest.approx(share, rel=0.4)
    assert log_loss(truth, stated, ("ant", "bee")) < 0.8 * -(share * np.log(share) + (1 - share) * np.log(1 - share))
    np.testing.assert_array_equal(learner.classes_[stated.argmax(axis=1)], learner.predict(new))
