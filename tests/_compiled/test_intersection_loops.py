"""The loops over sorted columns against their definitions, at the edges: no rows, one row, ties, empty and full dimensions."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from fewsight._compiled import (
    _loops,
    canonical_rows,
    column_totals,
    intersection_cross,
    intersection_inners,
    intersection_points,
    intersection_product,
    intersection_tables,
    sorted_columns,
)
from fewsight._compiled._lanes import LANES
from fewsight._compiled.sorted_columns import Columns

# rows, dimensions, share of non-zeros; 9 dimensions are two sweeps of four and one alone, 300 rows are sorted by digits
EDGES = [(0, 3, 0.5), (1, 1, 1.0), (5, 9, 0.5), (300, 9, 1.0), (40, 70, 0.05), (3, 4, 0.0)]


def columns_of(X: np.ndarray) -> Columns:
    dims, rows = np.nonzero(X.T)
    starts = np.concatenate([[0], np.cumsum(np.bincount(dims, minlength=X.shape[1]))]).astype(np.int64)
    columns = Columns(starts, rows.astype(np.uint32), X.T[dims, rows])
    sorted_columns.sort_columns_reference(columns, 0, X.shape[1])
    return columns


def histograms(n: int, width: int, density: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n, width)), 2) * (rng.random((n, width)) < density)  # two digits: ties


def rows_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, dims = np.nonzero(X)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))]).astype(np.int64)
    return starts, dims.astype(np.uint16)


def order_of(columns: Columns) -> np.ndarray:
    return np.argsort(-np.diff(columns.starts), kind="stable")


def numbers(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def agree(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("edge", EDGES)
def test_totals_equal_their_references(edge) -> None:
    X = histograms(*edge)
    sides, n = rows_of(X), len(X)
    for loop, reference, k in [
        (column_totals.totals_of_one, column_totals.totals_of_one_reference, 1),
        (column_totals.totals_of_lanes, column_totals.totals_of_lanes_reference, LANES),
    ]:
        for first, last in [(0, n), (n // 3, n // 2)]:
            arguments = *sides, X.shape[1], numbers(n, k), first, last
            agree(loop(*arguments), reference(*arguments))
    V, masks = numbers(n, 2 * LANES + 1), column_totals.masks_of_rows(*sides, X.shape[1])
    np.testing.assert_array_equal(masks, column_totals.masks_of_rows_reference(*sides, X.shape[1]))
    for words in (masks, masks[:0]):
        agree(column_totals.column_totals(*sides, words, X.shape[1], V), (X > 0).T @ V)
    for first, last in [(0, n), (n // 3, n // 2)]:
        arguments = masks, X.shape[1], V[:, :1], first, last
        agree(column_totals.totals_by_masks(*arguments), column_totals.totals_by_masks_reference(*arguments))


@pytest.mark.parametrize("edge", EDGES)
def test_products_equal_their_references(edge) -> None:
    X, weights = histograms(*edge), np.random.default_rng(2).random(edge[1])
    columns, width = columns_of(X), edge[1]
    for loop, reference, k in [
        (intersection_product.product_of_one, intersection_product.product_of_one_reference, 1),
        (intersection_product.product_of_lanes, intersection_product.product_of_lanes_reference, LANES),
    ]:
        V = numbers(len(X), k)
        for first, last in [(0, width), (width // 3, width // 2)]:
            arguments = columns, order_of(columns), weights, (X > 0).T @ V, V, first, last
            agree(loop(*arguments), reference(*arguments))


@pytest.mark.parametrize("n_columns", [0, 1, 2, LANES, LANES + 1, 2 * LANES + 3])
def test_a_product_has_as_many_columns_as_it_is_given(n_columns: int) -> None:
    X, weights = histograms(30, 7, 0.5), np.random.default_rng(2).random(7)
    K = (weights * np.minimum(X[:, None], X[None])).sum(axis=2)
    V, columns = numbers(30, n_columns), columns_of(X)
    agree(intersection_product.product(columns, order_of(columns), weights, (X > 0).T @ V, V), K @ V)


@pytest.mark.parametrize("edge", EDGES)
def test_inner_products_equal_their_reference(edge) -> None:
    X, width = histograms(*edge), edge[1]
    U, V = numbers(len(X), LANES), numbers(len(X), LANES, seed=2)
    for first, last in [(0, width), (width // 3, width // 2)]:
        arguments = columns_of(X), (X > 0).T @ V, U, V, first, last
        expected = intersection_inners.inners_of_lanes_reference(*arguments)
        agree(intersection_inners.inners_of_lanes(*arguments), expected)


@pytest.mark.parametrize("edge", EDGES)
def test_points_equal_their_reference(edge) -> None:
    X, Z, width = histograms(*edge), 1.5 * histograms(7, edge[1], 0.7, seed=3), edge[1]
    weights, V = np.random.default_rng(2).random(width), numbers(len(X), LANES)
    for first, last in [(0, width), (width // 3, width // 2)]:
        arguments = columns_of(X), weights, (X > 0).T @ V, V, columns_of(Z), 7, first, last
        agree(
            intersection_points.points_of_lanes(*arguments), intersection_points.points_of_lanes_reference(*arguments)
        )


@pytest.mark.parametrize("edge", EDGES)
def test_kernel_values_equal_their_reference(edge) -> None:
    X, Z, width = histograms(*edge), histograms(LANES, edge[1], 0.3, seed=3).T.copy(), edge[1]
    weights = np.random.default_rng(2).random(width)
    for first, last in [(0, width), (width // 3, width // 2)]:
        arguments = columns_of(X), weights, Z, len(X), first, last
        agree(intersection_cross.cross_of_lanes(*arguments), intersection_cross.cross_of_lanes_reference(*arguments))


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("edge", EDGES)
def test_searches_equal_their_reference(edge, n_columns: int) -> None:
    X, Z = histograms(*edge), 1.5 * histograms(6, edge[1], 0.7, seed=3)
    weights, V = np.random.default_rng(2).random(edge[1]), numbers(len(X), n_columns)
    columns, totals = columns_of(X), (X > 0).T @ V
    sums = intersection_tables.checkpoints(columns, weights, totals, V)
    agree(sums, intersection_tables.checkpoints_reference(columns, weights, totals, V))
    new = *rows_of(Z), Z[Z > 0]
    expected = intersection_tables.searched_reference(columns, weights, sums, V, *new)
    agree(intersection_tables.searched(columns, weights, sums, V, *new), expected)


@pytest.mark.parametrize("n_bins", [1, 10])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_looking_up_equals_its_reference(n_bins: int, n_columns: int, precision: type) -> None:
    Z = 1.5 * histograms(6, 5, 0.7, seed=3)
    steep = np.array([0.0, 1.0, n_bins, n_bins / 1.2, 3.0])
    places, table = (
        np.column_stack([steep, [1.0, 1.0, 0.2, 0.5, 0.01]]),
        numbers(5, n_bins + 1, n_columns).astype(precision),
    )
    arguments = *rows_of(Z), Z[Z > 0], places, 0.6 * n_bins, table
    agree(intersection_tables.looked_up(*arguments), intersection_tables.looked_up_reference(*arguments))


@pytest.mark.parametrize("n_bins", [1, 10])
@pytest.mark.parametrize("edge", EDGES)
def test_masses_of_bins_equal_their_reference(edge, n_bins: int) -> None:
    X, width = histograms(*edge), edge[1]
    V, greatest = numbers(len(X), 3), np.maximum(X.max(axis=0, initial=0.0), 1e-9)
    nodes, places = (
        np.linspace(0.0, greatest, n_bins + 1).T.copy(),
        np.column_stack([n_bins / greatest, np.ones(width)]),
    )
    arguments = columns_of(X), places, 0.8 * n_bins, nodes, V
    agree(intersection_tables.bin_masses(*arguments), intersection_tables.bin_masses_reference(*arguments))


def test_threads_share_the_work_and_change_nothing_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, V = histograms(200, 33, 0.5), numbers(200, LANES)
    columns, sides = columns_of(X), rows_of(X)
    masks = column_totals.masks_of_rows(*sides, 33)
    monkeypatch.setattr(_loops, "WORTH_SHARING", 1)
    found = []
    for n_threads in (1, 2, 3, 50):
        monkeypatch.setattr(numba, "get_num_threads", lambda n_threads=n_threads: n_threads)
        totals = column_totals.column_totals(*sides, masks, 33, V)
        found.append(intersection_product.product(columns, order_of(columns), np.ones(33), totals, V))
        again = intersection_product.product(columns, order_of(columns), np.ones(33), totals, V)
        np.testing.assert_array_equal(again, found[-1])
    for other in found[1:]:
        agree(other, found[0])


@pytest.mark.parametrize(
    ("starts", "dims", "values"),
    [
        ([0], [], []),
        ([0, 2, 2, 3], [0, 3, 1], [0.5, 1.0, 2.0]),
        ([0, 2], [3, 0], [1.0, 1.0]),
        ([0, 2], [1, 1], [1.0, 1.0]),
        ([0, 1], [4], [1.0]),
        ([0, 1], [-1], [1.0]),
        ([0, 1], [0], [0.0]),
        ([0, 1], [0], [-1.0]),
        ([0, 1], [0], [np.nan]),
        ([0, 1], [0], [np.inf]),
        ([0, 1], [0, 9], [1.0, np.nan]),
    ],
)
def test_rows_are_judged_as_the_reference_judges_them(starts, dims, values) -> None:
    arguments = np.array(starts, np.int32), np.array(dims, np.int32), np.array(values, np.float64), 4
    expected = canonical_rows.are_histograms_reference(*arguments)
    assert canonical_rows.are_histograms(*arguments) == expected
    assert expected == (len(starts) in (1, 4) or dims == [0, 9])  # what lies behind the last row is not read
