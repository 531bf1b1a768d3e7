"""Accuracy per class, recalls and confusions are those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as peer

from fewsight.metrics import (
    accuracy_per_class,
    confusion_matrix,
    recalls,
)

CLASSES = ["ant", "bee", "cat", "dog"]


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
