"""Labels in the order in which they came."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import PoolView, VectorPool
from fewsight.active.views import Hyperparameters, Labelled
from fewsight.kernels import RBF
from fewsight.learners.calibration import Calibration

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def view():
    return PoolView(VectorPool(X, RBF(scale=2.0)), Hyperparameters(np.ones(1), 0.1))


def test_targets_are_plus_one_in_the_column_of_the_label():
    labelled = Labelled([3, 1, 2], ["b", "a", "b"], ["a", "b", "c"])
    np.testing.assert_array_equal(labelled.targets(), [[-1, 1, -1], [1, -1, -1], [-1, 1, -1]])
    assert Labelled.none().targets().shape == (0, 0)


def test_the_first_labels_keep_the_order_of_columns():
    labelled = Labelled([0, 1, 2], ["c", "a", "b"], ["a", "b", "c"])
    assert labelled.first(2) == Labelled([0, 1], ["c", "a"], ["a", "b", "c"])
    assert labelled.first(0).classes == []


def test_an_example_is_taken_for_the_class_with_the_largest_mean(view):
    assert view.guess(0) is None
    view.start([4, 7], ["a", "b"], ["a", "b"])
    assert view.guess(4) == "a"
    assert view.guess(7) == "b"


def test_labels_are_taken_back_in_the_order_in_which_they_came_last(view):
    view.append(2, "a")
    view.append(5, "b")
    assert (view.take_back(), view.classes, view.positions.tolist()) == ("b", ["a"], [2])
    view.take_back()
    assert view.unlabelled.all()
    with pytest.raises(InvalidInput, match="no label of this pool is left to take back"):
        view.take_back()


def test_taking_back_a_class_of_the_middle_keeps_the_columns_of_the_others(view):
    view.start([0, 1, 2], ["b", "c", "a"], ["a", "b", "c"])
    view.take_back()
    again = PoolView(view.pool, view.settings)
    again.start([0, 1], ["b", "c"], ["b", "c"])
    np.testing.assert_allclose(view.mean, again.mean, atol=1e-12)


def test_probabilities_come_from_the_calibration_and_without_one_from_the_variances(view):
    view.start([0, 1], ["a", "b"], ["a", "b"])
    plain = view.probabilities()
    view.calibration = Calibration(sharpness=2.0, bend=0.0)
    np.testing.assert_allclose(view.probabilities(), view.calibration.probabilities(view.mean))
    assert not np.allclose(view.probabilities(), plain)
    np.testing.assert_allclose(view.probabilities(np.array([3])), view.probabilities()[[3]])
