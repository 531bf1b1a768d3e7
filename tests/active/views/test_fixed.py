"""A fitted learner looks at examples as it is."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active.followers import view_of
from fewsight.kernels import RBF
from fewsight.learners import SVMClassifier

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.array(["a", "b"])[np.arange(40) % 2]


def test_a_view_of_a_fitted_learner_says_what_the_learner_says():
    learner = SVMClassifier(RBF(scale=2.0)).fit(X[:20], Y[:20])
    view = view_of(learner, X[20:])
    np.testing.assert_array_equal(view.mean, learner.latent(X[20:]).mean)
    np.testing.assert_array_equal(view.probabilities(), learner.predict_proba(X[20:]))
    assert (view.n_labelled, view.classes, len(view)) == (20, ["a", "b"], 20)
    assert view.unlabelled.all()
    np.testing.assert_allclose(view.kernel(np.arange(2), np.arange(3)), RBF(scale=2.0).gram(X[20:22], X[20:23]))


def test_without_a_gram_matrix_of_the_pool_examples_cannot_be_compared():
    K = RBF(scale=2.0).gram(X)
    view = view_of(SVMClassifier("precomputed").fit(K[:20, :20], Y[:20]), K[20:, :20])
    assert not view.can_compare
    with pytest.raises(InvalidInput, match="pass their Gram matrix as pool_gram"):
        view.kernel(np.arange(2), np.arange(2))
    with pytest.raises(InvalidInput, match="got SVMClassifier without covariances"):
        view.covariance(np.arange(2), np.arange(2))
