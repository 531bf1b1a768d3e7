"""The metrics against scikit-learn's, against figures worked out by hand, and at their edges."""

import math

import numpy as np
import pytest
from sklearn import metrics as peer

from fewsight._base.errors import InvalidInput
from fewsight.metrics import (
    accuracy_per_class,
    average_precision,
    calibration_error,
    confusion_matrix,
    log_loss,
    mean_roc_auc,
    recalls,
    reliability_bins,
    roc_auc,
)

CLASSES = ["ant", "bee", "cat", "dog"]


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    truth = rng.choice(np.array(CLASSES, dtype=object), 300, p=[0.5, 0.3, 0.15, 0.05])
    probabilities = rng.dirichlet(np.ones(4), 300)
    return truth, np.array(CLASSES, dtype=object)[probabilities.argmax(axis=1)], probabilities


def test_accuracy_per_class_is_balanced_accuracy(answers):
    truth, predicted, _ = answers
    assert accuracy_per_class(truth, predicted) == pytest.approx(peer.balanced_accuracy_score(truth, predicted))


def test_accuracy_per_class_counts_a_small_class_as_much_as_a_large_one():
    assert accuracy_per_class(["a"] * 9 + ["b"], ["a"] * 10) == 0.5


def test_accuracy_per_class_ignores_classes_that_were_only_guessed():
    assert accuracy_per_class(["a", "a"], ["a", "z"]) == 0.5


@pytest.mark.parametrize("labels", [[1, 2, 2], [True, False, True], ["x", "y", "y"]])
def test_labels_may_be_integers_booleans_or_strings(labels):
    assert accuracy_per_class(labels, labels) == 1.0
    assert accuracy_per_class(np.array(labels), labels) == 1.0


def test_confusion_matrix_is_scikit_learns(answers):
    truth, predicted, _ = answers
    expected = peer.confusion_matrix(truth, predicted, labels=CLASSES)
    np.testing.assert_array_equal(confusion_matrix(truth, predicted, CLASSES), expected)


def test_recall_of_an_absent_class_is_not_a_number():
    np.testing.assert_array_equal(recalls(["a", "a"], ["a", "b"], ["a", "b"]), [0.5, np.nan])


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


def test_rankings_are_scikit_learns(answers):
    truth, _, probabilities = answers
    positive = truth == "bee"
    scores = probabilities[:, 1].round(1)  # with ties
    assert average_precision(positive, scores) == peer.average_precision_score(positive, scores)
    assert roc_auc(positive, scores) == peer.roc_auc_score(positive, scores)


def test_mean_roc_auc_is_scikit_learns_one_against_the_rest(answers):
    truth, _, probabilities = answers
    expected = peer.roc_auc_score(truth, probabilities, multi_class="ovr", labels=CLASSES)
    assert mean_roc_auc(truth, probabilities, CLASSES) == pytest.approx(expected)


def test_mean_roc_auc_leaves_out_an_absent_class():
    scores = [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]
    assert mean_roc_auc(["a", "b"], scores, ["a", "b", "c"]) == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: accuracy_per_class([], []), "accuracy_per_class: truth must hold at least one label, got \\[\\]."),
        (
            lambda: accuracy_per_class(["a"], ["a", "a"]),
            "predicted must have one entry for each of the 1 in truth, got 2",
        ),
        (lambda: confusion_matrix(["a"], ["b"], ["a"]), "predicted must hold members of classes only, got 'b'."),
        (lambda: log_loss(["a"], [[0.5]], ["a"]), "each row of probabilities must sum to 1"),
        (lambda: log_loss(["a"], [[1.5, -0.5]], ["a", "b"]), "probabilities must lie between 0 and 1"),
        (lambda: log_loss(["a"], [[0.5, 0.5]], ["a"]), "probabilities must be a matrix of 1 x 1, got 1 x 2."),
        (lambda: log_loss(["a"], [[np.nan, 0.5]], ["a", "b"]), "finite"),
        (lambda: average_precision([0, 0], [1, 2]), "at least one positive example, got none."),
        (lambda: roc_auc([1, 1], [1, 2]), "positive and negative examples, got only one kind."),
        (lambda: roc_auc([1, 0], [1, np.inf]), "scores must hold finite numbers only"),
        (lambda: roc_auc(["a", "b"], [1, 2]), "positive must hold booleans"),
        (lambda: mean_roc_auc(["a"], [[1.0]], ["a"]), "at least two classes, got one."),
        (lambda: reliability_bins(["a"], [[1.0]], ["a"], n_bins=0), "n_bins must be a whole number >= 1, got 0."),
    ],
)
def test_what_a_metric_cannot_use_is_said_in_a_sentence(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()
