"""Support vector machines are LIBSVM's, one against all."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF
from fewsight.learners import SVMClassifier

X, Y = make_blobs(60, 3, centers=3, cluster_std=2.0, random_state=2)
KERNEL = RBF(scale=2.0)  # of diagonal 1, so that its scale stays


def test_margins_are_those_of_one_machine_for_each_class():
    found = SVMClassifier(KERNEL, C=5.0).fit(X[:40], Y[:40]).latent(X[40:]).mean
    for label in range(3):
        machine = SVC(C=5.0, kernel="precomputed").fit(KERNEL.gram(X[:40]), np.where(Y[:40] == label, 1, -1))
        expected = machine.decision_function(KERNEL.gram(X[40:], X[:40]))
        np.testing.assert_allclose(found[:, label], expected, atol=1e-10)


def test_one_class_alone_claims_everything():
    learner = SVMClassifier(KERNEL).fit(X[:5], ["only"] * 5)
    assert learner.predict(X[5:8]).tolist() == ["only"] * 3


def test_the_number_of_jobs_changes_nothing():
    one, two = (SVMClassifier(KERNEL, n_jobs=jobs).fit(X[:40], Y[:40]).latent(X[40:]).mean for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_penalty_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="SVMClassifier: C must be a finite number > 0, got 0"):
        SVMClassifier(KERNEL, C=0).fit(X, Y)
