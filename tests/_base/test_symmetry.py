"""The quick look at a matrix that spares the long one."""

import numpy as np
import pytest

from fewsight._base.checks import TILE, is_plainly_symmetric


@pytest.mark.parametrize("n", [1, 2, TILE, TILE + 1, 3 * TILE - 1])
def test_the_quick_look_accepts_a_symmetric_matrix_and_sees_one_wrong_entry(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    K = A @ A.T
    assert is_plainly_symmetric(K)
    for i, j in [(n - 1, 0), (n - 1, n - 2), (n // 2, 0)]:
        if i > j >= 0:
            for wrong in (K[i, j] + 1e-6 * K.max(), np.nan, np.inf):
                other = K.copy()
                other[i, j] = wrong
                assert not is_plainly_symmetric(other)
                assert not is_plainly_symmetric(other.T)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_quick_look_sees_infinity_and_nan_in_symmetric_places(value):
    K = np.eye(5)
    K[1, 3] = K[3, 1] = value
    assert not is_plainly_symmetric(K)
    K = np.eye(5)
    K[2, 2] = value
    assert not is_plainly_symmetric(K)


def test_small_numbers_are_judged_by_their_own_scale():
    K = 1e-12 * np.array([[2.0, 1.0], [0.5, 2.0]])
    assert not is_plainly_symmetric(K)
    assert is_plainly_symmetric(K + K.T)
