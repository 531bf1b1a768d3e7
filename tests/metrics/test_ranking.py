"""Average precision and areas under the ROC curve are those of scikit-learn."""

import pytest
from sklearn import metrics as peer

from fewsight.metrics import (
    average_precision,
    mean_roc_auc,
    roc_auc,
)

CLASSES = ["ant", "bee", "cat", "dog"]


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
