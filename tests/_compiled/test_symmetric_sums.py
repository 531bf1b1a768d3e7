"""Sums over symmetric matrices against their definitions."""

import numpy as np
import pytest

from fewsight._compiled import symmetric_sums

SIZES = [1, 2, 7, 40]


def symmetric(n, seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def four(n):
    return [symmetric(n, seed) for seed in range(4)]


@pytest.mark.parametrize("n", SIZES)
def test_compiled_add_four_equals_its_reference_and_leaves_the_other_triangle_alone(n):
    total, weights = symmetric(n, 9), np.array([0.5, 0.0, 2.0, -1.0])
    expected = total.copy()
    symmetric_sums.add_four_reference(expected, *four(n), weights)
    below = np.tril_indices(n, -1)
    total[below] = np.nan
    symmetric_sums.add_four(total, *four(n), weights)
    np.testing.assert_allclose(np.triu(np.nan_to_num(total)), np.triu(expected), atol=1e-13)
    assert np.isnan(total[below]).all()


@pytest.mark.parametrize("n", SIZES)
def test_compiled_inner_four_equals_its_reference_and_is_half_of_the_sum_over_all_entries(n):
    W, matrices = symmetric(n, 9), four(n)
    found = symmetric_sums.inner_four(np.triu(W), *matrices)
    np.testing.assert_allclose(found, symmetric_sums.inner_four_reference(W, *matrices), atol=1e-12 * n * n)
    np.testing.assert_allclose(2 * found, [(W * K).sum() for K in matrices], atol=1e-12 * n * n)


@pytest.mark.parametrize("n", SIZES)
def test_compiled_group_sums_equals_its_reference(n):
    S, groups = symmetric(n, 3), np.random.default_rng(0).integers(0, 3, n)
    found = symmetric_sums.group_sums(np.triu(S), groups, 3)  # what is below the diagonal is not read
    np.testing.assert_allclose(found, symmetric_sums.group_sums_reference(S, groups, 3), atol=1e-12)
    np.testing.assert_allclose(found, np.eye(3)[groups].T @ S, atol=1e-12)
