"""Kernels of a part of each row are the kernels of that part."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, Columns, HistogramIntersection, Linear, Projected, RelevanceRBF

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(8, 5)), RNG.normal(size=(6, 5))


@pytest.mark.parametrize("part", [RBF(0.7), Linear()])
def test_a_kernel_of_columns_sees_only_these(part):
    kernel = Columns((3, 0), part)
    np.testing.assert_array_equal(kernel.gram(X), part.gram(X[:, [3, 0]]))
    np.testing.assert_array_equal(kernel.gram(X, Z), part.gram(X[:, [3, 0]], Z[:, [3, 0]]))
    np.testing.assert_array_equal(kernel.diag(X), part.diag(X[:, [3, 0]]))
    np.testing.assert_allclose(kernel.gram(scipy.sparse.csr_array(X)), kernel.gram(X), rtol=1e-12)


def test_columns_that_are_not_looked_at_may_be_below_zero():
    positive = np.abs(X)
    positive[:, 1] = -1.0
    expected = HistogramIntersection().gram(positive[:, [0, 2]])
    np.testing.assert_array_equal(Columns((0, 2), HistogramIntersection()).gram(positive), expected)
    with pytest.raises(InvalidInput, match="HistogramIntersection: A must hold numbers >= 0 only, got -1"):
        Columns((0, 1), HistogramIntersection()).gram(positive)


def test_a_kernel_of_projections_sees_only_these():
    D = RNG.normal(size=(2, 5))
    kernel = Projected(D.tolist(), RBF(0.7))
    np.testing.assert_allclose(kernel.gram(X, Z), RBF(0.7).gram(X @ D.T, Z @ D.T), rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(scipy.sparse.csr_array(X), Z), kernel.gram(X, Z), rtol=1e-12)


def test_relevances_are_inverse_squared_scales_and_may_be_zero():
    relevances = np.array([0.3, 0.0, 2.0, 0.0, 1e-3])
    expected = [[np.exp(-np.sum(relevances * (x - z) ** 2)) for z in Z] for x in X]
    np.testing.assert_allclose(RelevanceRBF(tuple(relevances)).gram(X, Z), expected, rtol=1e-12)
    scale = (0.5, 1.0, 2.0, 3.0, 4.0)
    same = RelevanceRBF(tuple(0.5 / np.square(scale)))
    np.testing.assert_allclose(same.gram(X, Z), RBF(scale).gram(X, Z), rtol=1e-12)
    np.testing.assert_array_equal(RelevanceRBF((0.0,) * 5).gram(X, Z), np.ones((8, 6)))


def test_what_is_no_part_of_a_row_is_refused():
    for make, sentence in [
        (lambda: Columns((), RBF()), r"Columns: columns must be different whole numbers >= 0, got \(\)"),
        (lambda: Columns((1, 1), RBF()), r"columns must be different whole numbers >= 0, got \(1, 1\)"),
        (lambda: Columns(3, RBF()), "columns must be different whole numbers >= 0, got 3"),
        (lambda: Columns((-1,), RBF()), "Columns: a column must be a whole number >= 0, got -1"),
        (lambda: Columns((1.5,), RBF()), "Columns: a column must be a whole number >= 0, got 1.5"),
        (lambda: Columns((1,), "rbf"), "Columns: part must be a kernel, got 'rbf'"),
        (lambda: Columns((7,), RBF()).gram(X), "Columns: A must have at least 8 columns, got 5"),
        (lambda: Columns((7,), RBF()).gram(np.ones((2, 9)), np.ones((2, 8)) * np.nan), "B must"),
        (lambda: Projected(((1.0,), (1.0, 2.0)), RBF()), "Projected: directions must be rows of numbers"),
        (lambda: Projected((), RBF()), "Projected: directions must be"),
        (lambda: Projected(((1.0, np.nan),), RBF()), "Projected: directions must hold finite numbers only"),
        (lambda: Projected(((1.0, 2.0),), RBF()).gram(X), "Projected: A must have 2 columns"),
        (lambda: RelevanceRBF(()), "RelevanceRBF: relevances must be one number >= 0 for each dimension"),
        (lambda: RelevanceRBF((1.0, -1.0)), "RelevanceRBF: a relevance must be a finite number >= 0, got -1.0"),
        (lambda: RelevanceRBF((1.0,)).gram(X), "RelevanceRBF: A must have 1 columns"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            make()
