"""The answer that settles most elsewhere."""

import numpy as np
import pytest

from fewsight.active import ActiveLearner, Influence, PoolView, Uncertainty
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier

RNG = np.random.default_rng(1)

X = RNG.normal(size=(70, 3))

Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2, balanced=False).fit(X[:20], Y[:20])


def test_influence_is_the_fall_of_the_variances_of_others_weighted_by_their_errors_by_brute_force(learner):
    view = PoolView.of(learner, X[20:])
    query = Influence(n_candidates=50, n_sample=1_000).query(view, batch_size=1)
    best = int(query.indices[0])
    before, errors = view.variance.copy(), 1 - view.probabilities().max(axis=1)
    errors[best] = 0.0
    view.append(best, "a")
    np.testing.assert_allclose(query.scores[0], errors @ (before - view.variance) / 50, atol=1e-10)


def test_an_outlier_is_more_uncertain_and_what_stands_for_many_is_asked_about():
    crowd = RNG.normal(scale=0.3, size=(30, 2))
    pool = np.vstack([[[0.0, 9.0]], crowd])
    learner = GPClassifier(RBF(scale=1.0), noise_variance=0.1).fit([[-2.0, 0.0], [2.0, 0.0]], ["left", "right"])
    assert Uncertainty().query(learner, pool).indices[0] == 0
    assert Influence().query(learner, pool).indices[0] != 0


def test_only_the_most_uncertain_are_thought_through(learner):
    first = Uncertainty().query(learner, X[20:], batch_size=4).indices
    assert Influence(n_candidates=4).query(learner, X[20:]).indices[0] in first
    assert Influence(n_candidates=1).query(learner, X[20:]).indices[0] in first[:2]


@pytest.mark.parametrize("kind", [SVMClassifier, HistogramGPClassifier])
def test_where_covariances_are_not_at_hand_it_asks_as_uncertainty_does(kind):
    known = [label if place < 20 else None for place, label in enumerate(Y.tolist())]
    learner = kind(RBF(scale=1.5)) if kind is SVMClassifier else kind()
    view = ActiveLearner(learner).fit(np.abs(X), known).view_
    assert Influence().query(view).indices.tolist() == Uncertainty().query(view).indices.tolist()
    assert "tells about others" not in Influence().reason(view, 30)


def test_examples_that_may_not_be_asked_about_say_nothing_about_the_pool(learner):
    """Test images, and what a person threw away."""
    among = list(range(25))
    query = Influence().query(learner, X[20:], among=among)
    other = X[20:].copy()
    other[25:] += 3.0
    again = Influence().query(learner, other, among=among)
    assert query.indices.tolist() == again.indices.tolist()
    np.testing.assert_array_equal(query.scores, again.scores)
