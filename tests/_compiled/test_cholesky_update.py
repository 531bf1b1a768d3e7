"""Updates of a Cholesky factor against factorising again."""

import numpy as np
import pytest

from fewsight._compiled import cholesky_update


def random_factor(n, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n + 2))
    return np.asfortranarray(np.linalg.cholesky(A @ A.T + 0.1 * np.eye(n)))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("zeros", [0, 1, 3])
def test_compiled_rank_one_update_equals_its_reference(n, zeros):
    L, v = random_factor(n), np.random.default_rng(1).normal(size=n)
    v[:zeros] = 0.0
    expected = cholesky_update.rank_one_update_reference(L, v)
    np.testing.assert_allclose(cholesky_update.rank_one_update(L.copy(order="F"), v.copy()), expected, atol=1e-12)


def test_rank_one_update_works_in_place_and_leaves_the_upper_triangle_alone():
    L, v = random_factor(5), np.arange(1.0, 6.0)
    expected = cholesky_update.rank_one_update_reference(L, v)
    L[np.triu_indices(5, 1)] = np.nan
    assert cholesky_update.rank_one_update(L, v) is L
    np.testing.assert_allclose(np.tril(np.nan_to_num(L)), expected, atol=1e-12)
    assert np.isnan(L[np.triu_indices(5, 1)]).all()


def test_rank_one_update_accepts_c_order():
    L, v = random_factor(6), np.linspace(-1, 1, 6)
    expected = cholesky_update.rank_one_update_reference(L, v)
    np.testing.assert_allclose(cholesky_update.rank_one_update(np.ascontiguousarray(L), v), expected, atol=1e-12)


@pytest.mark.parametrize("removed", [[], [0], [8], [4], [7, 2], [2, 7], [0, 1, 2, 3, 4, 5, 6, 7], [1, 3, 5, 8]])
def test_compiled_remove_equals_its_reference(removed):
    L, removed = random_factor(9), np.array(removed, dtype=np.intp)
    before = L.copy()
    smaller = cholesky_update.remove(L, removed)
    np.testing.assert_allclose(smaller, cholesky_update.remove_reference(L, removed), atol=1e-12)
    assert smaller.flags.f_contiguous
    np.testing.assert_array_equal(L, before)


def test_removing_everything_leaves_an_empty_factor():
    assert cholesky_update.remove(random_factor(3), np.arange(3)).shape == (0, 0)


def test_a_read_only_factor_is_accepted():
    L = random_factor(4)
    L.setflags(write=False)
    assert cholesky_update.remove(L, np.array([1])).shape == (3, 3)
