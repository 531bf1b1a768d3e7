"""What examples of the categories alone leave of variances and distances."""

import numpy as np
import pytest

from fewsight.gp import Posterior
from fewsight.kernels import RBF
from fewsight.learners.familiarity import Familiarity
from fewsight.learners.novelty import largest_cosine, similarity_to_other_folds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
K = RBF(scale=1.5).gram(X)
CLASSES = np.arange(30) % 3  # the last of them stands for no category
TARGETS = np.where(CLASSES[:, None] == np.arange(2), 1.0, -1.0)
INSIDE = np.flatnonzero(CLASSES < 2)


@pytest.fixture(scope="module")
def familiarity():
    return Familiarity.of(Posterior.condition(K[:30, :30], TARGETS, 0.1))


def test_new_examples_are_seen_as_if_those_of_none_had_never_been_there(familiarity):
    alone = Posterior.condition(K[np.ix_(INSIDE, INSIDE)], TARGETS[INSIDE], 0.1)
    variance, similarity = familiarity.of_new(K[30:, :30], np.ones(10))
    np.testing.assert_allclose(variance, alone.variance(K[30:][:, INSIDE], np.ones(10)), atol=1e-10)
    np.testing.assert_allclose(similarity, largest_cosine(K[30:][:, INSIDE], np.ones(10), np.ones(len(INSIDE))))
    assert not familiarity.is_whole


def test_left_out_examples_too(familiarity):
    folds = np.arange(30) % 5
    variance, similarity = familiarity.of_left_out(K[:30, :30], folds)
    for i in range(30):
        others = INSIDE[folds[INSIDE] != folds[i]] if i in INSIDE else INSIDE
        alone = Posterior.condition(K[np.ix_(others, others)], TARGETS[others], 0.1)
        assert variance[i] == pytest.approx(alone.variance(K[i : i + 1, others], np.ones(1))[0], abs=1e-9)
        assert similarity[i] == pytest.approx(K[i, others].max())


def test_without_examples_of_none_all_are_inside():
    posterior = Posterior.condition(K[:30, :30], np.where(TARGETS.max(axis=1, keepdims=True) > 0, TARGETS, 1.0), 0.1)
    whole = Familiarity.of(posterior)
    assert whole.is_whole
    assert len(whole.inside) == 30
    _, similarity = whole.of_left_out(K[:30, :30], np.arange(30))
    np.testing.assert_array_equal(similarity, similarity_to_other_folds(K[:30, :30], np.arange(30)))
