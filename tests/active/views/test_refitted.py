"""Learners that cannot take in one label are fitted again."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import VectorPool
from fewsight.active.followers import GramFollower
from fewsight.kernels import RBF
from fewsight.learners import SVMClassifier

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.array(["a", "b", "c"])[np.arange(40) % 3]


@pytest.fixture
def view():
    return GramFollower(SVMClassifier(RBF(scale=2.0)), VectorPool(X, RBF(scale=2.0)), np.arange(40)).view(None)


def test_after_every_label_the_view_says_what_a_fresh_fit_says(view):
    for position in range(12):
        view.append(position, str(Y[position]))
    fresh = SVMClassifier(RBF(scale=2.0)).fit(X[:12], Y[:12])
    columns = [fresh.classes_.tolist().index(label) for label in view.classes]
    np.testing.assert_allclose(view.mean, fresh.latent(X).mean[:, columns], atol=1e-8)
    view.take_back()
    fresh.fit(X[:11], Y[:11])
    np.testing.assert_allclose(view.mean, fresh.latent(X).mean[:, columns], atol=1e-8)


def test_it_is_fitted_once_for_all_that_is_read_after_a_label(view):
    view.start([0, 1, 2], ["a", "b", "c"], ["a", "b", "c"])
    assert view.fitted() is view.fitted()
    np.testing.assert_allclose(view.probabilities().sum(axis=1), 1.0)


def test_what_it_does_not_know_is_said(view):
    assert view.closed_form() is None
    with pytest.raises(InvalidInput, match="must be a Gaussian process to know them, got SVMClassifier"):
        view.covariance(np.arange(2), np.arange(2))
