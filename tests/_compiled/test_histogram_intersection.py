"""The two loops of histogram intersection against the definition, at the edges of their tiles, panels and blocks."""

from __future__ import annotations

import itertools

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


def arrays(X: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.indptr.astype(np.int64), X.indices, X.data


def lists(X: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return loops.by_column(X, np.ones(X.shape[1], dtype=bool))


def inverted(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array, same: bool = False) -> np.ndarray:
    return loops.inverted_gram(np.zeros((A.shape[0], B.shape[0])), *lists(A), *lists(B), same)


def uneven(n: int, seed: int) -> scipy.sparse.csr_array:
    """Ten columns that most rows fill among a thousand that few do: work for both loops."""
    rng = np.random.default_rng(seed)
    filled = rng.random((n, 1010)) < np.where(np.arange(1010) % 101 == 0, 0.8, 0.01)
    return scipy.sparse.csr_array(rng.random((n, 1010)) * filled)


@pytest.mark.parametrize("density", [0.05, 0.6, 1.0])
@pytest.mark.parametrize(("n", "m", "d"), EDGES)
def test_both_loops_equal_their_references(n: int, m: int, d: int, density: float) -> None:
    A, B = histograms(n, d, density, 0), histograms(m, d, density, 1)
    tiled = loops.tiled_gram(*arrays(A), *arrays(B), d, False)
    np.testing.assert_allclose(tiled, loops.tiled_gram_reference(*arrays(A), *arrays(B), d, False), rtol=1e-12)
    expected = loops.inverted_gram_reference(np.zeros((n, m)), *lists(A), *lists(B), False)
    np.testing.assert_allclose(inverted(A, B), expected, rtol=1e-12)


def test_the_walk_of_columns_adds_to_what_is_there() -> None:
    A = histograms(30, 40, 0.2, 11)
    K = np.ones((30, 30))
    assert loops.inverted_gram(K, *lists(A), *lists(A), True) is K
    np.testing.assert_allclose(K, 1 + inverted(A, A), rtol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 5), (PANEL_ROWS + 3, 40), (600, 30), (2050, 3)])
def test_the_symmetric_case_equals_the_rectangular_one_to_the_last_bit(n: int, d: int) -> None:
    A = histograms(n, d, 0.5, 2)
    rectangular = loops.tiled_gram(*arrays(A), *arrays(A), d, False)
    np.testing.assert_array_equal(loops.tiled_gram(*arrays(A), *arrays(A), d, True), rectangular)
    np.testing.assert_array_equal(inverted(A, A, True), rectangular)
    np.testing.assert_array_equal(rectangular, rectangular.T)


def test_both_loops_agree_to_the_last_bit() -> None:
    A, B = histograms(70, 1100, 0.3, 3), histograms(90, 1100, 0.3, 4)
    tiled = loops.tiled_gram(*arrays(A), *arrays(B), 1100, False)
    np.testing.assert_array_equal(tiled, inverted(A, B))
    np.testing.assert_array_equal(tiled, loops.tiled_gram(*arrays(B), *arrays(A), 1100, False).T)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    A = histograms(300, 700, 0.2, 5)
    before = numba.get_num_threads()
    try:
        results = []
        for threads in (1, before):
            numba.set_num_threads(threads)
            results.append(loops.tiled_gram(*arrays(A), *arrays(A), 700, True))
            results.append(inverted(A, A, True))
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
    sparse, dense, mixed = histograms(200, 400, 0.02, 7), histograms(200, 400, 0.3, 8), uneven(200, 9)
    assert not loops.common_columns(sparse, sparse).any()
    assert loops.common_columns(dense, dense).all()
    np.testing.assert_array_equal(np.flatnonzero(loops.common_columns(mixed, mixed)), np.arange(0, 1010, 101))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (40, 7), (300, 2), (257, 300)])
def test_common_and_rare_columns_together_give_the_definition(n: int, m: int) -> None:
    A, B = uneven(n, 12), uneven(m, 13)
    expected = loops.gram_reference(A.toarray(), B.toarray())
    np.testing.assert_allclose(loops.gram(A, B), expected, rtol=1e-12, atol=1e-15)


def test_both_loops_together_do_not_depend_on_the_order_of_rows_nor_on_the_number_of_threads() -> None:
    A, B = uneven(300, 14), uneven(90, 15)
    assert loops.common_columns(A, B).sum() == 10
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = loops.gram(A)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(loops.gram(A), alone)
    np.testing.assert_array_equal(loops.gram(A, A), alone)
    np.testing.assert_array_equal(alone, alone.T)
    np.testing.assert_array_equal(loops.gram(A, B), loops.gram(B, A).T)


def test_a_list_of_non_zeros_is_in_the_order_of_columns_for_each_few_rows() -> None:
    A, chosen = histograms(2 * loops.LISTED_ROWS + 5, 9, 0.5, 16), np.arange(9) % 3 > 0
    starts, dims, rows, values = loops.by_column(A, chosen)
    np.testing.assert_array_equal(A.toarray()[rows, dims], values)
    assert len(values) == starts[-1] == np.count_nonzero(A.toarray()[:, chosen])
    for number, (start, stop) in enumerate(itertools.pairwise(starts)):
        assert (rows[start:stop] // loops.LISTED_ROWS == number).all()
        assert (np.diff(dims[start:stop] * A.shape[0] + rows[start:stop]) > 0).all()


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


def test_rows_of_single_precision_have_sums_of_single_precision_right_to_a_millionth() -> None:
    for A in (histograms(200, 600, 0.3, 0), uneven(300, 1)):
        expected = loops.gram(A)
        found = loops.gram(A.astype(np.float32))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(found, found.T)
