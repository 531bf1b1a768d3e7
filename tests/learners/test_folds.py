"""Which training examples are left out together."""

import numpy as np

from fewsight.kernels import RBF
from fewsight.learners.folds import class_folds, near_duplicates, predictable


def test_near_duplicates_are_joined_by_chains():
    places = np.array([0.0, 0.1, 0.2, 5.0, 9.0, 14.0])[:, None]
    K, classes = places @ places.T, np.array([0, 0, 0, 0, 1, 1])
    assert near_duplicates(K, classes).tolist() == [0, 0, 0, 1, 2, 3]


def test_what_is_a_near_duplicate_does_not_depend_on_how_alike_a_kernel_finds_everything():
    K = RBF(scale=2.0).gram(np.random.default_rng(0).normal(size=(40, 6)))
    classes = np.arange(40) % 4
    assert len(set(near_duplicates(K, classes))) == 40
    np.testing.assert_array_equal(near_duplicates(0.99 + 0.01 * K, classes), near_duplicates(K, classes))
    twice = np.tile(np.arange(20), 2)
    np.testing.assert_array_equal(near_duplicates(K[np.ix_(twice, twice)], classes[twice]), twice)


def test_a_fold_takes_one_of_every_class_and_groups_stay_whole():
    classes = np.array([0, 0, 0, 1, 1, 1, 2])
    groups = np.array([0, 0, 1, 2, 3, 4, 5])
    folds = class_folds(classes, groups)
    assert folds[0] == folds[1]
    assert sorted(folds[3:6].tolist()) == [0, 1, 2]
    assert predictable(classes, folds).tolist() == [0, 1, 2, 3, 4, 5]  # the only example of class 2 is not


def test_large_classes_share_a_bounded_number_of_folds():
    classes = np.repeat([0, 1], [500, 30])
    folds = class_folds(classes, np.arange(530))
    assert set(folds) == set(range(20))
    assert np.bincount(folds[:500]).tolist() == [25] * 20
