"""Ask where the posterior knows least."""

import numpy as np
import pytest

from fewsight.active import Margin, Variance
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

RNG = np.random.default_rng(1)

X = RNG.normal(size=(70, 3))

Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20])


def test_margin_and_variance_choose_by_themselves_alone(learner):
    latent = learner.latent(X[20:])
    ordered = np.sort(latent.mean, axis=1)
    assert Margin().query(learner, X[20:]).indices[0] == np.argmin(ordered[:, -1] - ordered[:, -2])
    assert Variance().query(learner, X[20:]).indices[0] == np.argmax(latent.std[:, 0])
