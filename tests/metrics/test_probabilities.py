"""Log loss, reliability and calibration error, by hand and by scikit-learn."""

import math

import numpy as np
import pytest
from sklearn import metrics as peer

from fewsight.metrics import (
    calibration_error,
    log_loss,
    reliability_bins,
)

CLASSES = ["ant", "bee", "cat", "dog"]


def test_log_loss_is_scikit_learns(answers):
    truth, _, probabilities = answers
    assert log_loss(truth, probabilities, CLASSES) == pytest.approx(peer.log_loss(truth, probabilities, labels=CLASSES))


def test_log_loss_is_in_nats_and_finite_for_a_certain_error():
    assert log_loss(["a"], [[0.5, 0.5]], ["a", "b"]) == pytest.approx(math.log(2))
    assert log_loss(["a"], [[0.0, 1.0]], ["a", "b"]) == pytest.approx(-math.log(1e-15))


def test_log_loss_follows_the_order_of_the_classes_given():
    assert log_loss(["b"], [[0.9, 0.1]], ["b", "a"]) == pytest.approx(-math.log(0.9))


def test_log_loss_takes_float32_rows_that_do_not_quite_sum_to_one(answers):
    truth, _, probabilities = answers
    rounded = log_loss(truth, probabilities.astype(np.float32), CLASSES)
    assert rounded == pytest.approx(log_loss(truth, probabilities, CLASSES), abs=1e-5)


def test_calibration_error_by_hand():
    # Two bins hold examples: confidence 0.9 with 1 of 2 right, and 0.6 with 2 of 2 right.
    probabilities = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]]
    truth = ["a", "b", "a", "b"]
    assert calibration_error(truth, probabilities, ["a", "b"]) == pytest.approx(0.5 * 0.4 + 0.5 * 0.4)


def test_calibration_error_is_zero_when_confidence_is_honest():
    truth = ["a"] * 3 + ["b"]
    assert calibration_error(truth, [[0.75, 0.25]] * 4, ["a", "b"]) == pytest.approx(0.0)


def test_reliability_bins_hold_every_example_once_and_agree_with_scikit_learn(answers):
    truth, predicted, probabilities = answers
    bins = reliability_bins(truth, probabilities, CLASSES, n_bins=10)
    fraction, mean = peer_calibration_curve(truth == predicted, probabilities.max(axis=1), n_bins=10)
    filled = bins.counts > 0
    assert bins.counts.sum() == len(truth)
    np.testing.assert_allclose(bins.accuracy[filled], fraction)
    np.testing.assert_allclose(bins.confidence[filled], mean)


def peer_calibration_curve(right, confidence, n_bins):
    from sklearn.calibration import calibration_curve

    return calibration_curve(right, confidence, n_bins=n_bins)


def test_probabilities_of_exactly_zero_and_one_have_a_bin():
    bins = reliability_bins(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert bins.counts[-1] == 2
    assert np.isnan(bins.accuracy[0])
