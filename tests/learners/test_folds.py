"""Which training examples are left out together."""

import numpy as np

from fewsight.kernels import RBF, HistogramOperator
from fewsight.learners import folds
from fewsight.learners.folds import (
    accuracy_of_left_out,
    class_folds,
    columns_to_calibrate,
    identical,
    left_out_folds,
    near_duplicates,
    predictable,
    sampled_folds,
)

RNG = np.random.default_rng(0)
CLASSES = np.arange(300) % 3
OPERATOR = HistogramOperator.from_rows(RNG.random((300, 8)))


def test_near_duplicates_are_joined_by_chains():
    places = np.array([0.0, 0.1, 0.2, 5.0, 9.0, 14.0])[:, None]
    K, classes = places @ places.T, np.array([0, 0, 0, 0, 1, 1])
    assert near_duplicates(K, classes).tolist() == [0, 0, 0, 1, 2, 3]


def test_a_chain_whose_ends_are_far_apart_is_none_of_one_thing_and_twins_in_it_stay_together():
    angles = np.repeat(np.linspace(0, np.pi, 100), [1] * 50 + [2] + [1] * 49)  # one of them twice
    rows = np.concatenate([np.column_stack([np.cos(angles), np.sin(angles)]), RNG.normal(5.0, 1.0, (30, 2))])
    classes = np.repeat([0, 1], [101, 30])
    K = RBF(scale=1.0).gram(rows)
    groups = near_duplicates(K, classes)
    sizes = np.bincount(groups)
    assert sizes.max() < 20, "all of a class in one group could not be told by others"
    assert groups[50] == groups[51]
    assert len(left_out_folds(K, classes)[1]) == len(classes), "every example can be left out"
    assert groups.tolist() == [sorted(set(groups), key=groups.tolist().index).index(group) for group in groups]


def test_pictures_join_what_kernels_do_not_also_where_chains_fall_apart():
    rows = np.linspace(0, 10, 60)[:, None]
    K, classes = RBF(scale=1.0).gram(rows), np.zeros(60, np.intp)
    groups = near_duplicates(K, classes, np.array([0, *range(1, 59), 0]))
    assert groups[0] == groups[59]
    assert len(set(groups)) > 3


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
    found = class_folds(classes, groups)
    assert found[0] == found[1]
    assert sorted(found[3:6].tolist()) == [0, 1, 2]
    assert predictable(classes, found).tolist() == [0, 1, 2, 3, 4, 5]  # the only example of class 2 is not


def test_large_classes_share_a_bounded_number_of_folds():
    classes = np.repeat([0, 1], [500, 30])
    found = class_folds(classes, np.arange(530))
    assert set(found) == set(range(20))
    assert np.bincount(found[:500]).tolist() == [25] * 20


def test_examples_with_the_same_row_have_the_same_number():
    rows = RNG.random((20, 5))
    rows[7] = rows[3]
    numbers = identical(HistogramOperator.from_rows(rows))
    assert numbers[7] == numbers[3]
    assert len(np.unique(numbers)) == 19


def test_each_fold_has_the_same_share_of_every_class_and_leaves_some_of_each():
    found = sampled_folds(OPERATOR, CLASSES)
    everything = np.concatenate(found)
    assert len(np.unique(everything)) == len(everything) == 300
    for fold in found:
        assert np.bincount(CLASSES[fold]).tolist() == [5, 5, 5]


def test_a_few_folds_are_enough_of_a_large_set_but_rare_classes_are_left_out_more_often(monkeypatch):
    monkeypatch.setattr(folds, "EXAMPLES", 40)
    monkeypatch.setattr(folds, "MOST_COLUMNS", 0)
    assert [len(fold) for fold in sampled_folds(OPERATOR, CLASSES)] == [15, 15, 15]
    monkeypatch.setattr(folds, "MOST_COLUMNS", 24)  # of 4 a fold: up to six folds while a class has less than 30
    assert len(sampled_folds(OPERATOR, CLASSES)) == 6


def test_all_examples_are_in_a_few_large_folds_where_that_is_asked_for():
    found = sampled_folds(OPERATOR, CLASSES, most_folds=3)
    assert len(found) == 3
    assert sum(map(len, found)) == 300


def test_the_only_example_of_a_class_is_never_left_out():
    classes = np.append(np.zeros(10, np.intp), 1)
    found = sampled_folds(HistogramOperator.from_rows(RNG.random((11, 4))), classes)
    assert 10 not in np.concatenate(found)


def test_the_number_of_systems_to_expect_is_that_of_the_folds():
    assert columns_to_calibrate(CLASSES, 1) == len(sampled_folds(OPERATOR, CLASSES)) * (3 + 1)


def test_images_of_one_picture_are_duplicates_however_far_apart_they_are():
    places = np.array([0.0, 5.0, 9.0, 14.0, 20.0])[:, None]
    K, classes = places @ places.T, np.array([0, 0, 1, 1, 1])
    assert near_duplicates(K, classes).tolist() == [0, 1, 2, 3, 4]
    assert near_duplicates(K, classes, np.array([0, 1, 0, 2, 2])).tolist() == [0, 1, 0, 2, 2]


def test_pictures_that_all_differ_change_no_fold():
    one_each = RNG.permutation(300)
    for most in (None, 4):
        plain, with_pictures = (sampled_folds(OPERATOR, CLASSES, most, pictures) for pictures in (None, one_each))
        assert [fold.tolist() for fold in plain] == [fold.tolist() for fold in with_pictures]


def test_images_of_one_picture_are_in_one_fold_of_a_large_set():
    pictures = np.arange(300) // 2
    for fold in sampled_folds(OPERATOR, np.arange(300) // 2 % 3, pictures=pictures):
        assert (np.bincount(pictures[fold], minlength=150) % 2 == 0).all()


def test_accuracy_counts_classes_with_two_pictures_only():
    mean = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    classes = np.array([0, 0, 1, 1, 1])
    assert accuracy_of_left_out(mean, classes) == (1.0 + 2 / 3) / 2
    assert accuracy_of_left_out(mean, classes, np.array([0, 0, 1, 2, 3])) == 2 / 3
    assert accuracy_of_left_out(mean, classes, np.array([0, 0, 1, 1, 1])) is None


def test_examples_of_no_class_are_shared_out_and_never_predicted():
    K = np.eye(12) * 1.0
    classes = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1, -1])
    folds, kept = left_out_folds(K, classes)
    assert sorted(folds[8:].tolist()) == [0, 1, 2, 3]
    assert kept.tolist() == list(range(8))
    without, _ = left_out_folds(K[:8, :8], classes[:8])
    assert folds[:8].tolist() == without.tolist()
    mean = np.where(np.arange(2) == classes[:, None], 1.0, -1.0)
    assert accuracy_of_left_out(mean, classes) == 1.0
    assert columns_to_calibrate(classes, 1) == columns_to_calibrate(classes[:8], 1)
