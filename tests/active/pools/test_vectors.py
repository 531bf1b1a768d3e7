"""A pool of rows of numbers."""

import numpy as np
import scipy.sparse

from fewsight.active import VectorPool
from fewsight.kernels import RBF, HistogramIntersection

X = np.random.default_rng(0).random((15, 4))


def test_kernel_values_are_those_of_the_kernel():
    pool = VectorPool(X, RBF(scale=2.0))
    np.testing.assert_allclose(pool.parts(np.array([3, 1]))[0], RBF(scale=2.0).gram(X[[3, 1]], X), atol=1e-12)
    np.testing.assert_array_equal(pool.examples(np.array([2])), X[[2]])


def test_several_kernels_give_several_values():
    kernels = [RBF(scale=2.0), HistogramIntersection()]
    pool = VectorPool(X, kernels)
    assert (pool.n_kernels, pool.parameter) == (2, kernels)
    for part, diagonal, kernel in zip(pool.parts(np.array([3, 1])), pool.diagonals, kernels, strict=True):
        np.testing.assert_allclose(part, kernel.gram(X[[3, 1]], X), atol=1e-12)
        np.testing.assert_allclose(diagonal, kernel.diag(X))
    factors = np.array([0.5, 2.0])
    expected = 0.5 * kernels[0].gram(X[:2], X[5:]) + 2.0 * kernels[1].gram(X[:2], X[5:])
    np.testing.assert_allclose(pool.block(np.arange(2), np.arange(5, 15), factors), expected, atol=1e-12)


def test_without_a_kernel_it_is_a_gaussian_as_wide_as_the_examples_that_may_be_learned_from():
    far = np.vstack([X, 1_000.0 * X[:1]])
    assert VectorPool(far, learn_from=np.arange(15)).parameter == VectorPool(X).parameter


def test_rows_of_histograms_are_taken_as_they_are():
    pool = VectorPool(scipy.sparse.csr_array(X), HistogramIntersection())
    rows = pool.histograms("who", np.arange(15))
    assert (len(rows), rows.side.n_columns) == (15, 4)
    np.testing.assert_allclose(rows.operator.diag(), X.sum(axis=1))
