"""Learners that are fitted again: on Gram matrices, or on the examples themselves."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import GramPool, VectorPool
from fewsight.active.followers import ExampleFollower, GramFollower
from fewsight.active.views import Labelled
from fewsight.kernels import RBF
from fewsight.learners import HistogramGPClassifier, SVMClassifier

RNG = np.random.default_rng(0)
X, Y = RNG.random((40, 3)), np.array(["a", "b"])[np.arange(40) % 2]
LABELLED = Labelled(list(range(16)), Y[:16].tolist(), ["a", "b"])


def test_the_learner_that_is_taken_away_is_the_one_fitted_on_these_examples():
    follower = GramFollower(SVMClassifier(RBF(scale=2.0)), VectorPool(X, RBF(scale=2.0)), np.arange(40))
    model = follower.learner(LABELLED, None)
    alone = SVMClassifier(RBF(scale=2.0)).fit(X[:16], Y[:16])
    np.testing.assert_allclose(model.latent(X).mean, alone.latent(X).mean, atol=1e-10)
    assert model.n_features_in_ == 3


def test_a_learner_that_takes_no_gram_matrices_is_given_the_examples():
    follower = ExampleFollower(HistogramGPClassifier(noise_variance=0.1), VectorPool(X), np.arange(40))
    view = follower.view(None)
    view.start(*LABELLED)
    alone = HistogramGPClassifier(noise_variance=0.1).fit(X[:16], Y[:16])
    np.testing.assert_allclose(view.mean, alone.latent(X).mean, atol=1e-10)
    assert follower.learner(LABELLED, None).predict(X).tolist() == alone.predict(X).tolist()
    with pytest.raises(InvalidInput, match="GramPool: the learner must take Gram matrices"):
        ExampleFollower(HistogramGPClassifier(), GramPool(np.eye(40)), np.arange(40)).learner(LABELLED, None)
