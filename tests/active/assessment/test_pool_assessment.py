"""The whole pool assessed is what the learner that is taken away says about the same examples."""

import numpy as np
import pytest

from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import ActiveLearner, ImagePool
from fewsight.channels import SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier


@pytest.mark.parametrize(
    "learner",
    [
        GPClassifier(RBF(scale=2.0)),
        GPClassifier(RBF(scale=2.0), calibrated=False),
        GPClassifier(RBF(scale=2.0), unknown_rule="contrast+distance"),
        HistogramGPClassifier(quantization_bins=None, tolerance=1e-8),
    ],
)
@pytest.mark.parametrize("said", [False, True])
def test_probabilities_and_strangeness_are_those_of_the_learner(learner, said, digits):
    X, truth = digits[0][:300], digits[1][:300]
    active = ActiveLearner(learner, relearn_every=None).fit(X)
    empty = active.assess()
    assert (empty.classes, empty.probability.shape, empty.unknown) == ([], (300, 0), None)
    active.teach(range(60), [NONE_OF_THESE if number == 9 and said else number for number in truth[:60].tolist()])
    active.relearn()
    found, model = active.assess(), active.learner_
    expected = model.assess(X)
    rounding = 1e-8 if isinstance(learner, GPClassifier) else 1e-3  # kernel values in single precision
    columns = np.argsort(found.classes)
    np.testing.assert_allclose(found.probability[:, columns], expected.probabilities, atol=rounding)
    assert sorted(found.classes) == model.classes_.tolist()
    if isinstance(learner, GPClassifier):  # else variances are estimates
        np.testing.assert_allclose(found.unknown_score, expected.unknown_score, atol=1e-6)
        np.testing.assert_array_equal(found.unknown, expected.unknown)
    assert found.unknown.mean() < 0.6


def test_a_learner_that_does_not_say_what_is_unknown_leaves_it_open(digits):
    active = ActiveLearner(SVMClassifier(RBF(scale=2.0))).fit(digits[0][:50])
    active.teach(range(20), digits[1][:20])
    found = active.assess()
    assert (found.unknown_score, found.unknown) == (None, None)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)


def test_no_image_is_read_again(monkeypatch):
    tiles = sample_set()
    channel = SpatialPmk(n_words=8, n_levels=1, n_descriptors=300, longest_side=64)
    pool = ImagePool(tiles.images[::40], channel)
    active = ActiveLearner(GPClassifier(channel)).fit(pool)
    active.teach(range(len(pool) // 2), np.asarray(tiles.labels[::40])[: len(pool) // 2])
    monkeypatch.setattr(SpatialPmk, "encode", None)
    assert len(active.assess().probability) == len(pool)
