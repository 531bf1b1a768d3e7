"""Sums and maxima over all choices of points as parts: forward and backward sums against enumeration."""

import numpy as np
import pytest

from fewsight._compiled.part_choices import best_choices, best_choices_reference, choice_sums, choice_sums_reference


def problem(counts, n_parts, seed=0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    n = sum(counts)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    appearance = sharpness * rng.normal(size=(n, n_parts)) * 3
    positions = rng.random((n, 2))
    means = rng.normal(size=(n_parts - 1, 2)) * 0.3
    variances = rng.uniform(0.01, 0.2, (n_parts - 1, 2)) / sharpness
    return appearance, positions, starts, means, variances


CASES = [([1], 1), ([3, 0, 1], 1), ([5, 2, 3], 2), ([3], 3), ([2, 9, 4, 0], 3), ([8, 6], 5), ([7, 9], 6)]


@pytest.mark.parametrize(("counts", "n_parts"), CASES)
@pytest.mark.parametrize("sharpness", [1.0, 300.0])  # 300: weights that differ by thousands in their logs
def test_compiled_sums_equal_their_reference(counts, n_parts, sharpness):
    given = problem(counts, n_parts, sharpness=sharpness)
    for found, expected in zip(choice_sums(*given), choice_sums_reference(*given), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sharpness", [3.0, 10.0, 30.0])  # from all first points counting to all but one left out
def test_first_points_are_left_out_without_a_trace(sharpness):
    given = problem([18, 15], 3, seed=3, sharpness=sharpness)
    for found, expected in zip(choice_sums(*given), choice_sums_reference(*given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def test_a_choice_whose_order_forbids_the_largest_weights_still_counts():
    # The best point of part 1 lies behind the best of part 2, each by far: every allowed choice has e^-1000 of their product.
    appearance = np.full((4, 3), -1000.0)
    appearance[0, 0] = appearance[2, 2] = appearance[3, 1] = 0.0
    appearance[1, 1] = -999.0
    given = appearance, np.zeros((4, 2)), np.array([0, 4]), np.zeros((2, 2)), np.ones((2, 2))
    for found, expected in zip(choice_sums(*given), choice_sums_reference(*given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("counts", "n_parts"), CASES)
def test_compiled_best_choices_equal_their_reference(counts, n_parts):
    given = problem(counts, n_parts, seed=1)
    np.testing.assert_array_equal(best_choices(*given), best_choices_reference(*given))


def test_of_equally_good_choices_the_first_is_taken():
    given = np.zeros((5, 2)), np.zeros((5, 2)), np.array([0, 5]), np.zeros((1, 2)), np.ones((1, 2))
    np.testing.assert_array_equal(best_choices(*given), [[0, 1]])
    np.testing.assert_array_equal(best_choices_reference(*given), [[0, 1]])


def test_weights_far_below_any_float_still_add_up():
    appearance, *rest = problem([6], 3)
    lower = choice_sums(appearance - 1e5, *rest)
    plain = choice_sums(appearance, *rest)
    np.testing.assert_allclose(lower[0], plain[0] - 3e5, rtol=1e-12)
    np.testing.assert_allclose(lower[1], plain[1], atol=1e-9)


def test_shares_add_up_to_one_for_each_part():
    _, shares, _, _ = choice_sums(*problem([40], 4))
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-12)
