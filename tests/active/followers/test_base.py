"""What every follower does: nothing is learned from next to nothing, and each kind of learner has its own."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import VectorPool
from fewsight.active.followers import GPFollower, GramFollower, HistogramFollower, follower_of, pool_for
from fewsight.active.views import Labelled
from fewsight.kernels import RBF, HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier

X = np.random.default_rng(0).random((40, 4))


@pytest.mark.parametrize(
    ("learner", "kind"),
    [(GPClassifier(), GPFollower), (HistogramGPClassifier(), HistogramFollower), (SVMClassifier(), GramFollower)],
)
def test_each_kind_of_learner_has_a_follower(learner, kind):
    assert follower_of("who", learner) is kind


def test_what_is_no_learner_is_refused():
    with pytest.raises(InvalidInput, match="who: learner must be a learner of fewsight, got dict"):
        follower_of("who", {})


def test_a_pool_of_histograms_is_compared_by_intersection():
    pool = pool_for("who", HistogramGPClassifier(), X, np.zeros(0, dtype=np.intp))
    assert isinstance(pool.parameter, HistogramIntersection)


@pytest.mark.parametrize("labels", [["a", "b"] * 4, ["a"] * 20])
def test_few_labels_or_one_class_teach_nothing(labels):
    follower = GPFollower(GPClassifier(RBF(scale=1.0)), VectorPool(X, RBF(scale=1.0)), np.arange(40))
    learned = follower.learn(Labelled(list(range(len(labels))), labels, sorted(set(labels))))
    assert learned.noise_variance == follower.plain().noise_variance
