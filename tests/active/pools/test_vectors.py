"""A pool of rows of numbers."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
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


def test_a_few_rows_against_most_of_the_pool_are_kept_and_the_same_as_any_block():
    pool, factors = VectorPool(X, [RBF(scale=2.0), HistogramIntersection()]), np.array([0.5, 2.0])
    most, some = np.array([*range(1, 15), 0])[::-1], np.array([4, 2, 9])
    whole = 0.5 * RBF(scale=2.0).gram(X, X) + 2.0 * HistogramIntersection().gram(X, X)
    np.testing.assert_allclose(pool.block(np.arange(15), some, factors), whole[:, some], atol=1e-12)
    np.testing.assert_allclose(pool.block(np.array([3, 3, 7]), some, factors), whole[[3, 3, 7]][:, some], atol=1e-12)
    assert pool.kept.n_bytes == 0
    np.testing.assert_allclose(pool.block(np.array([3, 7]), most, factors), whole[[3, 7]][:, most], atol=1e-12)
    assert sorted(pool.kept.known(range(15))) == [3, 7]


def test_without_a_kernel_it_is_a_gaussian_as_wide_as_the_examples_that_may_be_learned_from():
    far = np.vstack([X, 1_000.0 * X[:1]])
    assert VectorPool(far, learn_from=np.arange(15)).parameter == VectorPool(X).parameter


def test_rows_of_histograms_are_taken_as_they_are():
    pool = VectorPool(scipy.sparse.csr_array(X), HistogramIntersection())
    rows = pool.histograms("who", np.arange(15))
    assert (len(rows), rows.side.n_columns) == (15, 4)
    np.testing.assert_allclose(rows.operator.diag(), X.sum(axis=1))


@pytest.mark.parametrize("kernels", [RBF(scale=1.0), [RBF(scale=1.0), HistogramIntersection()], None])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_grown_pool_is_the_pool_of_all_rows(kernels, sparse):
    if sparse and not isinstance(kernels, list):
        kernels = HistogramIntersection()
    rows = np.random.default_rng(1).random((40, 4))
    rows = scipy.sparse.csr_array(rows) if sparse and not isinstance(kernels, list) else rows
    pool = VectorPool(rows[:15], kernels)
    asked = np.array([3, 11])
    pool.parts(asked)
    for stop in (16, 30, 40):
        pool = pool.grow(rows[len(pool) : stop])
        pool.parts(np.append(asked, stop - 1))
    whole = VectorPool(rows, pool.parameter)
    for one, other in zip(pool.parts(np.arange(40)), whole.parts(np.arange(40)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    factors = np.full(pool.n_kernels, 0.5)
    np.testing.assert_allclose(
        pool.rows(np.array([39, 3]), factors), whole.rows(np.array([39, 3]), factors), atol=1e-12
    )
    assert len(pool) == 40


def test_growing_computes_only_what_is_new():
    pool = VectorPool(np.eye(6), RBF(scale=1.0))
    pool.parts(np.arange(3))
    grown, asked = pool.grow(np.ones((2, 6))), []
    compare = grown._compare
    grown._compare = lambda rows, columns: asked.append((rows.tolist(), columns.tolist())) or compare(rows, columns)
    grown.parts(np.arange(3))
    assert asked == [([0, 1, 2], [6, 7])]
    assert len(pool) == 6
    assert pool.parts(np.arange(3))[0].shape == (3, 6)


def test_rows_of_another_form_are_refused():
    pool = VectorPool(np.eye(3), HistogramIntersection())
    with pytest.raises(InvalidInput, match="VectorPool: examples must be dense rows, as the pool's are"):
        pool.grow(scipy.sparse.csr_array(np.eye(3)))
    with pytest.raises(InvalidInput, match="VectorPool: examples must"):
        pool.grow(np.ones((2, 4)))
    assert len(VectorPool([]).grow(np.ones((2, 4)))) == 2
