"""Ask where the decision is least certain."""

import numpy as np
import pytest

from fewsight.active import Uncertainty, simulate
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

RNG = np.random.default_rng(1)

X = RNG.normal(size=(70, 3))

Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20])


def test_uncertainty_is_the_smallest_mean_over_deviation_of_the_noisy_label():
    """[Kapoor2010, eq. 10]"""
    learner = GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20] == "a")
    latent = learner.latent(X[20:])
    eq10 = np.abs(latent.mean[:, 1]) / np.sqrt(latent.std[:, 1] ** 2 + 0.2)
    query = Uncertainty().query(learner, X[20:], batch_size=1)
    assert query.indices[0] == np.argmin(eq10)
    np.testing.assert_allclose(query.scores[0], -eq10.min(), atol=1e-10)


def test_each_asks_once_for_every_problem_and_then_in_turn(learner):
    latent = learner.latent(X[20:])
    scores = np.abs(latent.mean) / np.sqrt(latent.std**2 + 0.2)
    best = set(np.argmin(scores, axis=0).tolist())
    query = Uncertainty("each").query(learner, X[20:], batch_size=None)
    assert len(query) == 3
    assert best <= set(query.indices.tolist())
    # With one question at a time, 20 labels make it the turn of problem 20 mod 3 = 2.
    assert Uncertainty("each").query(learner, X[20:]).indices[0] == np.argmin(scores[:, 2])


@pytest.mark.parametrize("rule", ["uncertainty", "margin", "value_of_information"])
def test_asking_beats_drawing_at_random_on_digits(digits, digit_pool, rule):
    learner = GPClassifier("precomputed", noise_variance=0.01)
    curves = {}
    for name in (rule, "random"):
        records = simulate(learner, digit_pool, digits[1], name, 50, seeds=(100, 101))
        curves[name] = np.mean([record["accuracy"] for record in records if record["labels"] == 60])
    assert curves[rule] > curves["random"] + 0.03
