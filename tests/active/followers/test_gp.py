"""A Gaussian process on a pool: what is learned at intervals is what the classifier learns."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import ActiveLearner, GramPool, VectorPool
from fewsight.active.followers import GPFollower
from fewsight.active.views import Labelled
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
NAMES = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)]
LABELLED = Labelled(list(range(25)), NAMES[:25].tolist(), sorted(set(NAMES[:25].tolist())))
ALL = np.arange(60)


def test_weights_and_noise_are_those_of_a_classifier_on_the_same_examples():
    kernels = [RBF(scale=1.0), RBF(scale=4.0)]
    grams = [kernel.gram(X) for kernel in kernels]
    follower = GPFollower(GPClassifier("precomputed", weights="evidence"), GramPool(grams), ALL)
    found = follower.learn(LABELLED)
    alone = GPClassifier("precomputed", weights="evidence").fit([K[:25, :25] for K in grams], NAMES[:25])
    np.testing.assert_allclose(found.weights, alone.weights_)
    assert found.noise_variance == alone.noise_variance_


def test_what_was_learned_comes_back_from_its_record():
    follower = GPFollower(GPClassifier(RBF(scale=2.0)), VectorPool(X, RBF(scale=2.0)), ALL)
    found = follower.learn(LABELLED)
    again = follower.from_record(follower.record(found))
    np.testing.assert_array_equal(again.weights, found.weights)
    np.testing.assert_array_equal(again.scales, found.scales)
    assert again.noise_variance == found.noise_variance


@pytest.mark.parametrize(
    "record",
    [
        {"weights": "all", "scales": [1.0], "noise_variance": 0.1},
        {"weights": [1.0], "scales": [1.0], "noise_variance": -1.0},
        {"weights": [1.0, 2.0], "scales": [1.0], "noise_variance": 0.1},
        {"scales": [1.0], "noise_variance": 0.1},
    ],
)
def test_records_that_cannot_be_are_refused(record):
    follower = GPFollower(GPClassifier(RBF(scale=2.0)), VectorPool(X, RBF(scale=2.0)), ALL)
    with pytest.raises(InvalidInput, match="records"):
        follower.from_record(record)


def test_the_learner_that_is_taken_away_is_the_classifier_of_these_labels_whose_largest_mean_decides():
    learner = GPClassifier(RBF(scale=2.0), noise_variance=0.1)
    follower = GPFollower(learner, VectorPool(X, RBF(scale=2.0)), ALL)
    settings = follower.from_record(follower.record(follower.learn(LABELLED)))
    model = follower.learner(LABELLED, settings)
    alone = GPClassifier(RBF(scale=2.0), noise_variance=0.1, prototypes=False).fit(X[:25], NAMES[:25])
    assert not model.prototypes
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-10)
    assert follower.certainty(LABELLED, settings) == (model.calibration_, model.novelty_)


def test_a_record_of_an_earlier_version_may_name_factors_on_the_noise_which_is_one_for_all_now():
    follower = GPFollower(GPClassifier(RBF(scale=2.0)), VectorPool(X, RBF(scale=2.0)), ALL)
    record = {"weights": [1.0], "scales": [1.0], "noise_variance": 0.1, "balance": [["ant", 2.0]]}
    view = follower.view(follower.from_record(record))
    view.start(*LABELLED)
    np.testing.assert_array_equal(view.closed_form().noise, np.full(25, 0.1))


def test_left_out_examples_are_those_of_the_classifier():
    follower = GPFollower(GPClassifier(RBF(scale=2.0), noise_variance=0.1), VectorPool(X, RBF(scale=2.0)), ALL)
    view = follower.view(follower.learn(LABELLED))
    view.start(*LABELLED)
    found = follower.left_out(view, follower.learn(LABELLED))
    alone = GPClassifier(RBF(scale=2.0), noise_variance=0.1).fit(X[:25], NAMES[:25])
    np.testing.assert_allclose(found.mean, alone.leave_one_out().mean, atol=1e-10)


def test_with_one_label_of_each_class_the_pool_shows_how_sure_to_be():
    """As `GPClassifier.fit` with the same examples; those that are excluded, test images say, are not looked at."""
    rng = np.random.default_rng(5)
    truth, kernel = np.arange(60) % 4, RBF(scale=3.0)
    X = 3.0 * rng.normal(size=(4, 8))[truth] + rng.normal(size=(60, 8))
    labels = [int(number) if place < 4 else None for place, number in enumerate(truth)]
    learner = GPClassifier(kernel, noise_variance=0.2)
    alone = learner.fit(X[:4], truth[:4]).calibration_
    beside = GPClassifier(kernel, noise_variance=0.2).fit(X[:44], labels[:44]).calibration_
    assert abs(beside.sharpness - alone.sharpness) > 0.01
    active = ActiveLearner(learner).fit(VectorPool(X, kernel), labels, exclude=np.arange(44, 60))
    assert active.learner_.calibration_.sharpness == pytest.approx(beside.sharpness, rel=1e-6)
    proba = active.predict_proba()
    np.testing.assert_allclose(proba, beside.probabilities(active.view_.mean), atol=1e-6)
