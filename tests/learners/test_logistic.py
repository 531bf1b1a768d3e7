"""What people fit to embeddings today: the same answers as scikit-learn's, from Gram matrices alone."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, Linear
from fewsight.learners import LogisticClassifier
from fewsight.learners.logistic import GRID, PLAIN_C, spanned

X, Y = make_blobs(120, 5, centers=4, cluster_std=4.0, random_state=2)
X = X / np.sqrt((X[:80] ** 2).sum(axis=1).mean())  # such that the training diagonal of the linear kernel has mean 1
TRAIN, TEST = slice(0, 80), slice(80, 120)


@pytest.mark.parametrize("labels", [Y, Y == 1], ids=["four classes", "two classes"])
@pytest.mark.parametrize("C", [1.0, 1000.0])
def test_logistic_regression_is_that_of_the_vectors(labels, C):
    ours = LogisticClassifier(Linear(), C=C).fit(X[TRAIN], labels[TRAIN])
    # scikit-learn fits one logit for two classes where we fit two, each with half the slopes: half the penalty
    theirs = LogisticRegression(C=C * (2 if labels.dtype == bool else 1), tol=1e-8, max_iter=10_000)
    theirs.fit(X[TRAIN], labels[TRAIN])
    np.testing.assert_allclose(ours.predict_proba(X[TEST]), theirs.predict_proba(X[TEST]), atol=2e-4)


def test_cross_validation_takes_the_penalty_under_which_left_out_examples_are_most_probable():
    ours = LogisticClassifier(Linear(), n_folds=4).fit(X[TRAIN], Y[TRAIN])
    assert ours.C_ in GRID
    folds = np.empty(80, int)
    for label in range(4):
        folds[Y[TRAIN] == label] = np.arange((Y[TRAIN] == label).sum()) % 4

    def surprise(C):
        total = 0.0
        for fold in range(4):
            model = LogisticRegression(C=C, tol=1e-6, max_iter=10_000).fit(
                X[TRAIN][folds != fold], Y[TRAIN][folds != fold]
            )
            stated = model.predict_proba(X[TRAIN][folds == fold])
            total -= np.log(stated[np.arange(len(stated)), Y[TRAIN][folds == fold]]).sum()
        return total

    assert surprise(ours.C_) == pytest.approx(min(map(surprise, GRID)), rel=1e-3)


def test_with_one_example_of_each_class_the_penalty_is_the_plain_one():
    first = [int(np.flatnonzero(label == Y)[0]) for label in range(4)]
    assert LogisticClassifier(Linear()).fit(X[first], Y[first]).C_ == PLAIN_C


def test_a_class_of_one_among_larger_ones_is_no_obstacle():
    some = np.append(np.flatnonzero(Y > 0)[:30], np.flatnonzero(Y == 0)[:1])
    learner = LogisticClassifier(RBF(scale=0.5)).fit(X[some], Y[some])
    assert learner.predict_proba(X[TEST]).shape == (40, 4)


def test_rows_that_span_the_kernel_give_its_values():
    K = RBF(scale=0.5).gram(X[TRAIN])
    rows, further = spanned(K)
    np.testing.assert_allclose(rows @ rows.T, K, atol=1e-8)
    np.testing.assert_allclose(K @ further, rows, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"), [({"C": 0}, "C must be"), ({"C": "best"}, "C must be"), ({"n_folds": 1}, "n_folds")]
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInput, match=rf"^LogisticClassifier: {message}"):
        LogisticClassifier(Linear(), **options).fit(X[TRAIN], Y[TRAIN])
