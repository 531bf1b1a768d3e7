"""Columns of the kernel of a pool of histograms, kept in single precision."""

import numpy as np

from fewsight.active.pools.histogram_rows import KeptColumns, comparable, intersections
from fewsight.kernels import HistogramIntersection, HistogramOperator

X = np.random.default_rng(0).random((12, 5))
OPERATOR = HistogramOperator.from_rows(X, weights=np.array([1.0, 2.0, 0.5, 0.0, 1.0]))


def test_kept_columns_are_those_of_the_kernel_in_any_order():
    kept, K = KeptColumns(OPERATOR), OPERATOR.columns(np.arange(12)).T
    np.testing.assert_allclose(kept.of(np.array([3, 7])), K[[3, 7]], rtol=1e-6)
    np.testing.assert_allclose(kept.of(np.array([7, 1, 3])), K[[7, 1, 3]], rtol=1e-6)
    np.testing.assert_allclose(kept.of(np.array([7, 1, 3, 9])), K[[7, 1, 3, 9]], rtol=1e-6)


def test_columns_beyond_the_bound_are_computed_again(monkeypatch):
    monkeypatch.setattr("fewsight.active.pools.histogram_rows.MOST_KEPT", 2 * 4 * 12)
    kept, K = KeptColumns(OPERATOR), OPERATOR.columns(np.arange(12)).T
    for _ in range(2):
        np.testing.assert_allclose(kept.of(np.arange(5)), K[:5], rtol=1e-6)
    assert sum(row.nbytes for row in kept._kept.values()) == 2 * 4 * 12


def test_what_is_given_out_does_not_change_when_others_ask():
    kept = KeptColumns(OPERATOR)
    first = kept.of(np.array([3, 7]))
    before = first.copy()
    kept.of(np.array([7, 1, 3, 9]))[:] = 0.0
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(kept.of(np.array([3, 7])), before)


def test_rows_are_comparable_by_plain_intersection():
    rows = comparable(OPERATOR, X)
    weighted = X * OPERATOR.weights
    np.testing.assert_allclose(intersections(rows[:3], rows), HistogramIntersection().gram(weighted[:3], weighted))
    assert intersections(rows[:0], rows).shape == (0, 12)
