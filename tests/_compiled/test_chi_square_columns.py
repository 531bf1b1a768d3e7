"""A few rows against many that were laid out column by column, in double and in single precision, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fewsight._compiled import chi_square
from fewsight._compiled import chi_square_columns as loops


def histograms(n: int, d: int, seed: int, density: float) -> scipy.sparse.csr_array:
    """Rows that sum to one; some columns are filled by many rows and some by few."""
    rng = np.random.default_rng(seed)
    M = rng.random((n, d)) * (rng.random((n, d)) < density * np.linspace(0.0, 2.0, d))
    return scipy.sparse.csr_array(M / np.maximum(M.sum(axis=1, keepdims=True), 1e-300))


EXACT = {np.float32: 5e-7, np.float64: 1e-13}


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("density", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (3, 5, 7), (2, loops.AT_ONCE + 1, loops.FEW + 1), (1, 2, 70_000)])
def test_the_loop_equals_its_reference(n: int, m: int, d: int, density: float, precision: type) -> None:
    A, ready = histograms(n, d, 0, density), loops.ChiSquareColumns.of(histograms(m, d, 1, density), precision)
    given = (A.indptr.astype(np.int64), ready.place[A.indices], A.data)
    lists = (ready.dense, ready.starts, ready.rows, ready.values, m // 3, m)
    expected = loops.overlaps_reference(*given, *lists)
    np.testing.assert_allclose(loops.overlaps(*given, *lists), expected, rtol=2 * EXACT[precision], atol=1e-12)


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("columns", range(1, 2 * loops.FEW + 2))
def test_columns_taken_four_at_a_time_are_worth_those_taken_one_by_one(columns: int, precision: type) -> None:
    A, ready = histograms(2, columns, 0, 1.0), loops.ChiSquareColumns.of(histograms(9, columns, 1, 1.0), precision)
    given = (A.indptr.astype(np.int64), ready.place[A.indices], A.data, ready.dense)
    given = (*given, ready.starts, ready.rows, ready.values, 0, 9)
    np.testing.assert_allclose(loops.overlaps(*given, True), loops.overlaps(*given, False), rtol=2 * EXACT[precision])


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e-6, 1e6, 1e30, 1e200])
def test_rows_of_any_size_are_compared_alike(scale: float, precision: type) -> None:
    A, B = histograms(3, 50, 2, 1.0), histograms(20, 50, 3, 1.0)
    found = loops.ChiSquareColumns.of(B * scale, precision).distances(A * scale)
    np.testing.assert_allclose(found / scale, chi_square.distances(A, B), atol=EXACT[precision])


@pytest.mark.parametrize("precision", EXACT)
def test_numbers_far_above_and_far_below_the_mean_leave_no_gap(precision: type) -> None:
    A, B = histograms(2, 12, 4, 1.0).toarray(), histograms(2_000, 12, 5, 1.0).toarray()
    A[:, :4], B[::2, :4] = 1e-30, 0.0  # four columns without anything to divide by, but for rounding
    B[0, 5], A[1, 6] = 1e9, 1e14
    A, B = scipy.sparse.csr_array(A), scipy.sparse.csr_array(B)
    for asked in (A[:1], A[1:]):
        found, expected = loops.ChiSquareColumns.of(B, precision).distances(asked), chi_square.distances(asked, B)
        largest = max(asked.sum(), B.sum(axis=1).max())
        np.testing.assert_allclose(found / largest, expected / largest, atol=EXACT[precision])


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("density", [0.05, 0.3, 1.0])
def test_distances_are_those_of_rows_that_are_not_laid_out_within_rounding(density: float, precision: type) -> None:
    A, B = histograms(4, 900, 2, density), histograms(700, 900, 3, density)
    ready = loops.ChiSquareColumns.of(B, precision)
    np.testing.assert_allclose(ready.distances(A), chi_square.distances(A, B), atol=EXACT[precision])
    np.testing.assert_allclose(np.diag(ready.distances(B)), 0.0, atol=EXACT[precision])
    assert ready.distances(B).min() >= 0.0


def test_rows_laid_out_in_single_precision_take_less_memory_than_they_did() -> None:
    B = histograms(2_000, 400, 4, 0.6)
    ready = loops.ChiSquareColumns.of(B, np.float32)
    assert ready.dense.nbytes + ready.rows.nbytes + ready.values.nbytes < 0.75 * (B.data.nbytes + B.indices.nbytes)
