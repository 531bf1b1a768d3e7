"""The learner of many histograms on a pool."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import VectorPool
from fewsight.active.followers import HistogramFollower
from fewsight.active.views import Labelled
from fewsight.kernels import HistogramIntersection
from fewsight.learners import HistogramGPClassifier

RNG = np.random.default_rng(3)
TRUTH = np.arange(90) % 3
SHAPES = RNG.gamma(1.0, size=(3, 20)) + 0.3
X = np.array([RNG.dirichlet(SHAPES[c]) for c in TRUTH])
LABELLED = Labelled(list(range(45)), TRUTH[:45].tolist(), [0, 1, 2])


def follower_of(**options):
    return HistogramFollower(HistogramGPClassifier(**options), VectorPool(X, HistogramIntersection()), np.arange(90))


def test_noise_is_that_of_the_classifier_on_the_same_examples():
    found = follower_of().learn(LABELLED)
    assert found.noise_variance == pytest.approx(HistogramGPClassifier().fit(X[:45], TRUTH[:45]).noise_variance_)


def test_columns_that_are_kept_serve_on_where_only_the_noise_changed():
    follower = follower_of()
    assert follower.learn(LABELLED).columns is follower.plain().columns
    assert follower_of(relevance="evidence").learn(LABELLED).columns is not None


def test_what_was_learned_comes_back_from_its_record_or_is_learned_again():
    follower = follower_of()
    found = follower.learn(LABELLED)
    again = follower.from_record(follower.record(found))
    assert (again.factor, again.noise_variance) == (found.factor, found.noise_variance)
    weighed = follower_of(relevance="evidence")
    assert weighed.record(weighed.learn(LABELLED)) is None


def test_the_learner_that_is_taken_away_has_learned_all_labels():
    follower = follower_of(noise_variance=0.05)
    model = follower.learner(LABELLED, follower.plain())
    view = follower.view(follower.plain())
    view.start(*LABELLED)
    np.testing.assert_allclose(model.posterior_.exact_mean(X), view.mean, atol=2e-2)


def test_one_noise_for_all_classes_is_needed():
    with pytest.raises(InvalidInput, match="one noise for all classes, got noise_per_class=True"):
        follower_of(noise_per_class=True)
    with pytest.raises(InvalidInput, match=r"must have hellinger_share=0 or 'auto', got 0\.5"):
        follower_of(hellinger_share=0.5)
    with pytest.raises(InvalidInput, match="must have noise_balance=0 or 'auto', got 'left-out'"):
        follower_of(noise_balance="left-out")
