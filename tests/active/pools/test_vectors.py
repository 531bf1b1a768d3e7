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


def test_without_a_kernel_it_is_a_gaussian_as_wide_as_the_examples_that_may_be_learned_from():
    far = np.vstack([X, 1_000.0 * X[:1]])
    assert VectorPool(far, learn_from=np.arange(15)).kernel == VectorPool(X).kernel


def test_rows_of_histograms_are_taken_as_they_are():
    pool = VectorPool(scipy.sparse.csr_array(X), HistogramIntersection())
    rows = pool.histograms("who", np.arange(15))
    assert (len(rows), rows.side.n_columns) == (15, 4)
    np.testing.assert_allclose(rows.operator.diag(), X.sum(axis=1))
