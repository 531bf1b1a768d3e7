"""What every pool offers."""

import threading

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import GramPool, VectorPool
from fewsight.active.pools.base import combined
from fewsight.kernels import RBF, Linear

X = np.random.default_rng(0).normal(size=(20, 3))


def test_weighted_sums_of_kernels_are_sums_of_their_values():
    grams = [RBF(scale=1.0).gram(X), Linear().gram(X)]
    pool, factors = GramPool(grams), np.array([0.3, 0.7])
    whole = 0.3 * grams[0] + 0.7 * grams[1]
    rows, columns = np.array([3, 1]), np.array([0, 5, 7])
    np.testing.assert_allclose(pool.rows(rows, factors), whole[rows])
    np.testing.assert_allclose(pool.block(rows, columns, factors), whole[np.ix_(rows, columns)])
    np.testing.assert_allclose(pool.diagonal(factors), whole.diagonal())
    np.testing.assert_allclose(combined(grams, factors), whole)


def test_rows_that_were_computed_are_kept():
    pool = VectorPool(X, RBF(scale=1.0))
    first = pool.parts(np.array([4, 2]))[0]
    pool._compare = None  # would fail if asked again
    np.testing.assert_array_equal(pool.parts(np.array([2, 4]))[0], first[::-1])


def test_scales_are_mean_diagonals_and_one_where_these_are_zero():
    pool = GramPool([4.0 * np.eye(5), np.zeros((5, 5))])
    np.testing.assert_array_equal(pool.scales(), [4.0, 1.0])
    assert GramPool(np.diag([1.0, 3.0])).scales(np.array([1])).tolist() == [3.0]


def test_a_pool_without_histograms_says_so():
    with pytest.raises(InvalidInput, match="who: with HistogramGPClassifier the pool must be rows of numbers >= 0"):
        GramPool(np.eye(3)).histograms("who", np.arange(3))


def test_two_threads_read_what_one_would():
    rows = np.random.default_rng(1).normal(size=(300, 8))
    pool, whole, wrong = VectorPool(rows, [RBF(scale=1.0), Linear()]), VectorPool(rows, [RBF(scale=1.0), Linear()]), []
    expected = whole.rows(np.arange(300), np.ones(2))

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            some = rng.permutation(300)[:9]
            wrong.extend(some[np.abs(pool.rows(some, np.ones(2)) - expected[some]).max(axis=1) > 1e-12])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_kept_rows_stay_within_the_bound_and_values_are_right_beyond_it():
    rows = np.random.default_rng(1).normal(size=(100, 8))
    bounded = VectorPool(rows, [RBF(scale=1.0), Linear()], max_bytes=40_000)
    whole = VectorPool(rows, [RBF(scale=1.0), Linear()])
    for _ in range(2):
        np.testing.assert_allclose(
            bounded.rows(np.arange(100), np.ones(2)), whole.rows(np.arange(100), np.ones(2)), atol=1e-5
        )
        assert bounded.kept.n_bytes <= 40_000
    assert bounded.grow(rows[:1]).kept.max_bytes == 40_000
