"""A pool whose kernel values are all given."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import GramPool
from fewsight.kernels import RBF

K = RBF(scale=1.0).gram(np.random.default_rng(0).normal(size=(8, 2)))


def test_single_precision_stays_until_a_row_is_used():
    pool = GramPool(K.astype(np.float32))
    assert pool.matrices[0].dtype == np.float32
    assert pool.rows(np.array([1]), np.ones(1)).dtype == np.float64


def test_new_examples_are_rows_against_the_whole_pool():
    side = GramPool(K).input_of(np.array([2, 5]), np.ones(1))
    np.testing.assert_allclose(side.compare(side.read(K[:3]))[0], K[:3][:, [2, 5]])


@pytest.mark.parametrize(
    ("grams", "said"),
    [
        (np.ones((2, 3)), "must be square"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "must be symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite numbers only"),
        ([np.eye(2), np.eye(3)], r"one size, got \[2, 3\]"),
    ],
)
def test_matrices_that_cannot_be_are_refused(grams, said):
    with pytest.raises(InvalidInput, match=said):
        GramPool(grams)


def test_a_grown_pool_is_the_pool_of_the_whole_matrix():
    X = np.random.default_rng(0).normal(size=(9, 3))
    grams = [X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))]
    pool = GramPool([K[:5, :5] for K in grams]).grow([K[5:7, :7] for K in grams]).grow([K[7:, :] for K in grams])
    for one, other in zip(pool.matrices, grams, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(GramPool(np.zeros((0, 0))).grow(grams[0]).matrices[0], grams[0])
    with pytest.raises(InvalidInput, match=r"\(q x 9 \+ q\), got shape \(2, 9\)"):
        pool.grow([np.ones((2, 9)), np.ones((2, 9))])
    with pytest.raises(InvalidInput, match="a block of new rows for each of 2 Gram matrices, got 1"):
        pool.grow(np.ones((2, 11)))
