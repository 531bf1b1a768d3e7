"""Noise that lets rare classes count as much as frequent ones."""

import numpy as np

from fewsight.learners.balance import balanced_noise, noise_factors


def test_classes_of_one_size_have_the_same_noise():
    np.testing.assert_array_equal(noise_factors(np.array([3, 3, 3, 3])), np.ones(4))


def test_the_factors_are_shares_raised_a_little_more_while_the_smallest_class_is_small():
    np.testing.assert_allclose(noise_factors(np.array([1, 3])), np.array([0.5, 1.5]) ** 2)
    np.testing.assert_allclose(noise_factors(np.array([100, 300])), np.array([0.5, 1.5]) ** 1.01)


def test_an_empty_class_changes_no_other():
    np.testing.assert_allclose(noise_factors(np.array([2, 0, 6])), [0.5**1.5, 1.0, 1.5**1.5])
    np.testing.assert_array_equal(noise_factors(np.zeros(2)), np.ones(2))
    assert noise_factors(np.zeros(0)).shape == (0,)


def test_every_example_has_the_factor_of_its_class():
    targets = np.where(np.array([0, 1, 1, 1])[:, None] == np.arange(2), 1.0, -1.0)
    np.testing.assert_allclose(balanced_noise(targets), np.array([0.5, 1.5, 1.5, 1.5]) ** 2)
    assert balanced_noise(np.zeros((0, 2))).shape == (0,)
