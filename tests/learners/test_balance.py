"""Targets that let rare classes count as much as frequent ones."""

import numpy as np

from fewsight.gp import Posterior
from fewsight.learners.balance import POWER, TargetLevels, balanced_targets, is_balanced, leave_out


def plain(numbers, n_classes):
    return np.where(np.asarray(numbers)[:, None] == np.arange(n_classes), 1.0, -1.0)


def test_classes_of_one_size_have_plain_targets():
    levels = TargetLevels.of([3, 3, 3, 3])
    assert levels.plain
    targets = plain([0, 1, 2, 0, 1, 2], 3)
    np.testing.assert_array_equal(balanced_targets(targets), targets)


def test_both_sides_of_a_column_weigh_what_they_would_if_all_classes_had_the_same_size():
    levels = TargetLevels.of([1, 3, 8])
    np.testing.assert_allclose(levels.own ** (1 / POWER) * [1, 3, 8], [4, 4, 4])
    np.testing.assert_allclose(levels.others ** (1 / POWER) * [11, 9, 4], [8, 8, 8])


def test_two_classes_of_many_labels_are_balanced_less_than_two_of_few():
    few, many, of_five = (TargetLevels.of(sizes) for sizes in ([1, 5], [10, 50], [10, 50, 30, 30, 30]))
    assert 1.0 < many.own[0] < few.own[0]
    assert few.own[0] == 3.0**POWER
    assert of_five.own[0] == 3.0**POWER


def test_scale_and_shift_make_balanced_targets_of_plain_ones():
    targets = plain([0, 1, 1, 1, 2, 2], 3)
    levels = TargetLevels.of([1, 3, 2])
    np.testing.assert_allclose(balanced_targets(targets), levels.scale * targets + levels.shift)


def test_an_empty_class_changes_no_other_and_a_class_alone_is_plain():
    some, all_of_them = TargetLevels.of([2, 0, 6]), TargetLevels.of([2, 6])
    np.testing.assert_array_equal(some.own[[0, 2]], all_of_them.own)
    assert some.own[1] == some.others[1] == 1.0
    assert TargetLevels.of([5]).plain
    assert TargetLevels.of(np.zeros(2)).plain
    assert TargetLevels.of(np.zeros(0)).own.shape == (0,)


def test_an_example_of_no_class_is_negative_everywhere_and_counts_for_none():
    targets = plain([0, 1, 1, 1, -1], 2)
    found = balanced_targets(targets)
    np.testing.assert_array_equal(found[:4], balanced_targets(targets[:4]))
    assert (found[4] < 0).all()
    np.testing.assert_array_equal(found[4], [found[1, 0], found[0, 1]])
    assert balanced_targets(np.zeros((0, 2))).shape == (0, 2)


def test_targets_that_counts_do_not_give_stay_as_they_are_when_examples_are_left_out():
    """As in a model file of an earlier version, which balanced by noise."""
    targets = plain([0, 1, 1, 1, 1], 2)
    K = np.eye(5) + 0.3
    posterior = Posterior.condition(K, targets, np.array([0.1, 1.0, 1.0, 1.0, 1.0]))
    assert not is_balanced(posterior)
    np.testing.assert_array_equal(leave_out(posterior, balanced=True).mean, posterior.leave_one_out().mean)
    assert is_balanced(Posterior.condition(K, balanced_targets(targets), 0.1))
