"""The chi-square loop against the definition."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse

from fewsight._compiled import chi_square as loops
from fewsight._compiled._row_tiles import PANEL_DIMS, PANEL_ROWS


def histograms(n: int, d: int, seed: int, density: float = 0.4) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    return scipy.sparse.csr_array(rng.random((n, d)) * (rng.random((n, d)) < density))


@pytest.mark.parametrize("density", [0.05, 1.0])
@pytest.mark.parametrize(
    ("n", "m", "d"),
    [(1, 1, 1), (3, 5, 7), (2, 2, 70_000), (PANEL_ROWS + 1, 3, 5), (3, PANEL_ROWS + 1, 5), (3, 4, PANEL_DIMS + 1)],
)
def test_the_loop_equals_its_reference(n: int, m: int, d: int, density: float) -> None:
    A, B = histograms(n, d, 0, density), histograms(m, d, 1, density)
    arrays = [part for X in (A, B) for part in (X.indptr.astype(np.int64), X.indices, X.data)]
    expected = loops.tiled_distances_reference(*arrays, d, False)
    np.testing.assert_allclose(loops.tiled_distances(*arrays, d, False), expected, rtol=1e-10, atol=1e-12)


def test_the_symmetric_case_equals_the_rectangular_one_to_the_last_bit() -> None:
    A = histograms(PANEL_ROWS + 10, 60, 2)
    np.testing.assert_array_equal(loops.distances(A), loops.distances(A, A))
    np.testing.assert_array_equal(loops.distances(A), loops.distances(A).T)


def test_equal_rows_are_at_distance_zero_exactly() -> None:
    A = histograms(40, 900, 3)
    np.testing.assert_array_equal(np.diag(loops.distances(A, A.copy())), 0.0)


def test_tiny_numbers_do_not_vanish() -> None:
    A, B = scipy.sparse.csr_array([[3e-200]]), scipy.sparse.csr_array([[1e-200]])
    np.testing.assert_allclose(loops.distances(A, B), [[1e-200]], rtol=1e-12)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    A = histograms(200, 300, 4)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = loops.distances(A)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(loops.distances(A), alone)
