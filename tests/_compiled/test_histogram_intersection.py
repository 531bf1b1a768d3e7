"""The two loops of histogram intersection against the definition, at the edges of their tiles, panels and blocks."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse

from fewsight._compiled import histogram_intersection as loops
from fewsight._compiled._row_tiles import PANEL_DIMS, PANEL_ROWS

EDGES = [
    (1, 1, 1),
    (3, 5, 7),
    (2, 2, 70_000),  # past a 16-bit index, and wide enough for taller panels
    (PANEL_ROWS, PANEL_ROWS + 1, 3),  # a panel that is just full, and one row more
    (3, 4, PANEL_DIMS),
    (3, 4, PANEL_DIMS + 1),
    (65, 129, 40),  # one row past a tile
    (530, 9, 5),  # larger tiles
]


def histograms(n: int, d: int, density: float, seed: int) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    return scipy.sparse.csr_array(rng.random((n, d)) * (rng.random((n, d)) < density))


def arrays(X: scipy.sparse.csr_array | scipy.sparse.csc_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.indptr.astype(np.int64), X.indices, X.data


@pytest.mark.parametrize("density", [0.05, 0.6, 1.0])
@pytest.mark.parametrize(("n", "m", "d"), EDGES)
def test_both_loops_equal_their_references(n: int, m: int, d: int, density: float) -> None:
    A, B = histograms(n, d, density, 0), histograms(m, d, density, 1)
    tiled = loops.tiled_gram(*arrays(A), *arrays(B), d, False)
    inverted = loops.inverted_gram(*arrays(A), *arrays(B.tocsc()), m, False)
    np.testing.assert_allclose(tiled, loops.tiled_gram_reference(*arrays(A), *arrays(B), d, False), rtol=1e-12)
    expected = loops.inverted_gram_reference(*arrays(A), *arrays(B.tocsc()), m, False)
    np.testing.assert_allclose(inverted, expected, rtol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 5), (PANEL_ROWS + 3, 40), (600, 30), (2050, 3)])
def test_the_symmetric_case_equals_the_rectangular_one_to_the_last_bit(n: int, d: int) -> None:
    A = histograms(n, d, 0.5, 2)
    rectangular = loops.tiled_gram(*arrays(A), *arrays(A), d, False)
    np.testing.assert_array_equal(loops.tiled_gram(*arrays(A), *arrays(A), d, True), rectangular)
    np.testing.assert_array_equal(loops.inverted_gram(*arrays(A), *arrays(A.tocsc()), n, True), rectangular)
    np.testing.assert_array_equal(rectangular, rectangular.T)


def test_both_loops_agree_to_the_last_bit() -> None:
    A, B = histograms(70, 1100, 0.3, 3), histograms(90, 1100, 0.3, 4)
    tiled = loops.tiled_gram(*arrays(A), *arrays(B), 1100, False)
    np.testing.assert_array_equal(tiled, loops.inverted_gram(*arrays(A), *arrays(B.tocsc()), 90, False))
    np.testing.assert_array_equal(tiled, loops.tiled_gram(*arrays(B), *arrays(A), 1100, False).T)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    A = histograms(300, 700, 0.2, 5)
    before = numba.get_num_threads()
    try:
        results = []
        for threads in (1, before):
            numba.set_num_threads(threads)
            results.append(loops.tiled_gram(*arrays(A), *arrays(A), 700, True))
            results.append(loops.inverted_gram(*arrays(A), *arrays(A.tocsc()), 300, True))
    finally:
        numba.set_num_threads(before)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_sixty_four_bit_indices_give_the_same_numbers() -> None:
    A = histograms(20, 30, 0.4, 6)
    starts, dims, values = arrays(A)
    wide = loops.tiled_gram(starts, dims.astype(np.int64), values, starts, dims.astype(np.int64), values, 30, True)
    np.testing.assert_array_equal(wide, loops.gram(A))


def test_columns_are_walked_only_where_few_non_zeros_coincide() -> None:
    sparse, dense = histograms(200, 400, 0.02, 7), histograms(200, 400, 0.3, 8)
    assert loops.inverted_pays(sparse, sparse)
    assert not loops.inverted_pays(dense, dense)


def test_few_coincidences_and_many_give_the_definition_alike() -> None:
    for density in (0.02, 0.3):
        A, B = histograms(50, 400, density, 9), histograms(30, 400, density, 10)
        expected = loops.gram_reference(A.toarray(), B.toarray())
        np.testing.assert_allclose(loops.gram(A, B), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("shape", [(0, 5), (4, 0), (4, 5)])
def test_empty_rows_have_nothing_in_common(shape: tuple[int, int]) -> None:
    A = scipy.sparse.csr_array(shape, dtype=np.float64)
    np.testing.assert_array_equal(loops.gram(A), np.zeros((shape[0], shape[0])))
    np.testing.assert_array_equal(loops.gram(A, A), np.zeros((shape[0], shape[0])))


@pytest.mark.parametrize("same", [True, False])
def test_millions_of_empty_columns_change_nothing(same):
    rng = np.random.default_rng(5)
    H = rng.random((6, 40)) * (rng.random((6, 40)) < 0.3)
    places = np.sort(rng.choice(4_000_000, 40, replace=False))
    wide = scipy.sparse.csr_array(H)
    wide = scipy.sparse.csr_array((wide.data, places[wide.indices], wide.indptr), shape=(6, 4_000_000))
    A, B = wide[:4], (None if same else wide[3:])
    expected = loops.gram_reference(H[:4], H[:4] if same else H[3:])
    np.testing.assert_allclose(loops.gram(A, B), expected, atol=1e-15)
