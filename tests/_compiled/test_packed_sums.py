"""Sums over packed triangles against their definitions."""

import numpy as np
import pytest

from fewsight._compiled import packed_sums

SIZES = [1, 2, 7, 33, 70]


def triangles(k, p, seed=0):
    return np.random.default_rng(seed).normal(size=(k, p)).astype(np.float32)


@pytest.fixture(params=[packed_sums.TILE, 5], ids=["one tile", "many tiles"])
def n_places(request):
    return 12 if request.param == packed_sums.TILE else 2 * packed_sums.TILE + 17


@pytest.mark.parametrize("q", [0, 1, 3])
def test_compiled_add_weighted_equals_its_reference_and_keeps_to_its_places(q, n_places):
    stack, rows = triangles(9, n_places), np.array([3, 0, 8, 1, 2, 2, 7, 3] * 2)
    weights = np.random.default_rng(1).normal(size=(q, 16))
    totals = np.random.default_rng(2).normal(size=(q, n_places))
    expected, first, last = totals.copy(), 3, n_places - 2
    packed_sums.add_weighted_reference(expected, stack, rows, weights, first, last)
    packed_sums.add_weighted(totals, stack, rows, weights, first, last)
    np.testing.assert_allclose(totals, expected, atol=1e-13)


def test_compiled_inner_equals_its_reference(n_places):
    stack, rows, W = triangles(9, n_places), np.array([3, 0, 8, 1, 2, 2, 7, 3]), triangles(1, n_places, 1)[0]
    arguments = stack, rows, W.astype(np.float64), 3, n_places - 2
    np.testing.assert_allclose(packed_sums.inner(*arguments), packed_sums.inner_reference(*arguments), atol=1e-9)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("single", [np.float32, np.float64])
def test_compiled_pack_and_unpack_equal_their_references_and_undo_each_other(n, single):
    A = np.random.default_rng(n).normal(size=(n, n)).astype(np.float32).astype(np.float64)
    K = A + A.T if single is np.float64 else (A + A.T).astype(np.float32).astype(np.float64)
    packed, expected = np.empty((2, n * (n + 1) // 2), dtype=single)
    packed_sums.pack(np.tril(K), packed)  # what is above the diagonal is not read
    packed_sums.pack_reference(K, expected)
    np.testing.assert_array_equal(packed, expected)
    whole, again = np.full((2, n, n), np.nan)
    packed_sums.unpack(packed, whole)
    packed_sums.unpack_reference(packed, again)
    np.testing.assert_array_equal(whole, again)
    np.testing.assert_array_equal(whole, K)


@pytest.mark.parametrize("k", [1, 8, 19])
def test_sums_over_all_triangles_take_any_number_of_them(k, n_places):
    stack, weights = triangles(k, n_places), np.random.default_rng(1).normal(size=(2, k))
    weights[:, ::3] = 0.0
    totals = np.zeros((2, n_places))
    packed_sums.add_all(totals, stack, weights)
    np.testing.assert_allclose(totals, weights @ stack.astype(np.float64), atol=1e-13)
    W = np.random.default_rng(2).normal(size=n_places)
    chosen = np.arange(k)[::-2]
    found = packed_sums.inner_all(stack, W, chosen)
    np.testing.assert_allclose(found, stack[chosen].astype(np.float64) @ W, atol=1e-9)
    assert packed_sums.inner_all(stack, W, chosen[:0]).shape == (0,)


def test_triangles_without_weight_are_never_read():
    stack = triangles(4, 6)
    stack[[1, 3]] = np.nan
    totals = np.zeros((1, 6))
    packed_sums.add_all(totals, stack, np.array([[1.0, 0.0, 2.0, 0.0]]))
    np.testing.assert_allclose(totals[0], stack[0] + 2.0 * stack[2], rtol=1e-6)
    packed_sums.add_all(totals, stack, np.zeros((1, 4)))
    assert np.isfinite(totals).all()


@pytest.mark.parametrize("positions", [[], [0], [6, 2, 2, 5], list(range(7))])
def test_compiled_unpack_part_equals_its_reference(positions):
    packed, places = triangles(1, 28)[0], np.array(positions, np.intp)
    part, expected = np.full((2, len(places), len(places)), np.nan)
    packed_sums.unpack_part(packed, places, part)
    packed_sums.unpack_part_reference(packed, places, expected)
    np.testing.assert_array_equal(part, expected)
    whole = np.empty((7, 7))
    packed_sums.unpack(packed, whole)
    np.testing.assert_array_equal(part, whole[np.ix_(places, places)])
