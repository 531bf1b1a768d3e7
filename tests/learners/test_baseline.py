"""What baselines share: their values are all they know, and a model file gives them back or is refused."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.learners import NearestMeanClassifier, NearestNeighbourClassifier, SVMClassifier
from fewsight.learners.baseline import averaged

X = np.random.default_rng(0).normal(size=(12, 3)) + np.repeat([[0.0], [2.0]], 6, axis=0)
Y = np.repeat(["a", "b"], 6)


@pytest.mark.parametrize("kind", [SVMClassifier, NearestNeighbourClassifier, NearestMeanClassifier])
def test_a_baseline_states_values_without_deviation_and_probabilities_in_their_order(kind):
    found = kind(RBF(scale=1.0)).fit(X, Y).assess(X)
    assert not found.latent.std.any()
    np.testing.assert_array_equal(found.latent.mean.argmax(axis=1), found.probabilities.argmax(axis=1))
    assert found.unknown is None


def test_people_compare_plain_vectors_by_inner_products_and_histograms_by_their_kernel():
    assert SVMClassifier().usual_kernel(RBF(scale=3.0)) == Linear()
    assert SVMClassifier().usual_kernel(HistogramIntersection()) == HistogramIntersection()


def test_options_that_a_file_may_not_set_are_refused():
    state = SVMClassifier(RBF(scale=1.0)).fit(X, Y).state()
    for options in ({"C": 1.0, "kernel": "os.system"}, {}, ["C"]):
        with pytest.raises(InvalidInput, match="the options must be C"):
            SVMClassifier.from_state(State({**state.header, "options": options}, state.arrays))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (np.zeros(12, np.intp), "the stored members must name each of 2 classes"),
        (np.arange(12), "the stored array members must hold numbers from 0 to 1, got 0 to 11"),
        (np.repeat([0, 1], 5), "the stored array members must be int64 of shape 12, got int64 of shape 10"),
        (np.zeros(12), "the stored array members must be int64 of shape 12, got float64 of shape 12"),
    ],
)
def test_members_that_do_not_fit_the_classes_are_refused(members, said):
    state = NearestMeanClassifier(RBF(scale=1.0)).fit(X, Y).state()
    with pytest.raises(InvalidInput, match=said):
        NearestMeanClassifier.from_state(State(state.header, {**state.arrays, "members": members}))


def test_one_gram_matrix_is_its_own_average():
    K = np.eye(3)
    assert averaged([K]) is K
    np.testing.assert_array_equal(averaged([K, 3 * K]), 2 * K)
