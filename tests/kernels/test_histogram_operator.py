"""The implicit kernel matrix against the dense one: dense and sparse rows, ties, zeros, single rows, empty columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import (
    GeneralHistogramIntersection,
    HistogramOperator,
    LookupTable,
    SearchTable,
    SortedHistograms,
    TableOnDemand,
    histogram_tables,
)
from fewsight.kernels import histogram_operator as module

KINDS = [
    ("none", None),
    ("power", 0.6),
    ("power", 2.0),
    ("exponential", 3.0),
    ("exponential", -2.0),
    ("exponential", 0.0),
]
SIZES = [(1, 1), (2, 5), (600, 30), (2000, 4)]


def rows(n: int, width: int, seed: int = 0) -> np.ndarray:
    """Rows with ties, zeros, an empty column where there is room and, from ten on, an empty row."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, width)) < 0.5, np.round(rng.random((n, width)), 2), rng.random((n, width)))
    X *= rng.random((n, width)) < 0.6
    X[:, 1:2] = 0
    X[9:10] = 0
    return X


def transformed(X: np.ndarray, kind: str, parameter: float | None) -> np.ndarray:
    if kind == "power":
        return X**parameter
    return np.expm1(parameter * X) / np.expm1(parameter) if kind == "exponential" and parameter else X


def dense(A: np.ndarray, B: np.ndarray, weights: np.ndarray, kind: str = "none", parameter: float | None = None):
    g = transformed(A, kind, parameter), transformed(B, kind, parameter)
    return sum(w * np.minimum.outer(g[0][:, d], g[1][:, d]) for d, w in enumerate(weights))


def agree(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("kind", "parameter"), KINDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_all_that_the_operator_says_is_what_the_matrix_says(make, size, kind, parameter) -> None:
    rng = np.random.default_rng(1)
    X, Z, weights = rows(*size), 1.3 * rows(3, size[1], seed=2), rng.random(size[1])
    V, U = rng.normal(size=(2, size[0], 3))
    operator = HistogramOperator.from_rows(make(X), transform=kind, parameter=parameter, weights=weights)
    K, K_new = (dense(X, other, weights, kind, parameter) for other in (X, Z))
    assert operator.shape == K.shape
    agree(operator @ V, K @ V)
    agree(operator @ V[:, 0], K @ V[:, 0])
    agree(operator.diag(), np.diag(K))
    agree(operator.trace(), np.trace(K))
    agree(operator.columns([0, size[0] - 1, 0]), K[:, [0, -1, 0]])
    agree(operator.cross(make(Z)), K_new)
    agree(operator.product(make(Z), V), K_new.T @ V)
    agree(operator.product(Z, V[:, 0]), K_new.T @ V[:, 0])
    kernel = GeneralHistogramIntersection(kind, parameter, tuple(weights))
    agree(kernel.gram(make(X), make(Z)), K_new)
    agree(kernel.diag(make(X)), np.diag(K))
    parts = [dense(X[:, [d]], X[:, [d]], np.ones(1), kind, parameter) for d in range(size[1])]
    agree(operator.weight_inners(U, V), [np.sum(U * (part @ V)) for part in parts])
    agree(operator.dimension_traces(), [np.trace(part) for part in parts])
    counts = np.arange(float(operator.n))
    agree(operator.dimension_traces(counts), [np.diag(part) @ counts for part in parts])


@pytest.mark.parametrize(("kind", "parameter"), [kind for kind in KINDS if kind[1] is not None])
def test_slopes_in_the_parameter_match_finite_differences(kind: str, parameter: float) -> None:
    rng = np.random.default_rng(1)
    operator = HistogramOperator.from_rows(rows(50, 6), weights=rng.random(6)).with_transform(kind, parameter)
    (U, V), step = rng.normal(size=(2, 50, 2)), 1e-5
    more, less = (operator.with_transform(kind, parameter + sign * step) for sign in (1, -1))
    slope = (np.sum(U * (more @ V)) - np.sum(U * (less @ V))) / (2 * step)
    assert operator.transform_inner(U, V) == pytest.approx(slope, rel=1e-6)
    assert operator.transform_trace() == pytest.approx((more.trace() - less.trace()) / (2 * step), rel=1e-6)


@pytest.mark.parametrize(("kind", "parameter"), KINDS)
def test_k_in_single_precision_is_k_to_a_millionth(kind: str, parameter: float | None) -> None:
    X, weights = rows(90, 30), np.linspace(0.0, 2.0, 30)
    operator = HistogramOperator.from_rows(X, transform=kind, parameter=parameter, weights=weights)
    found, expected = operator.rounded(), dense(X, X, weights, kind, parameter)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    with pytest.raises(InvalidInput, match=r"HistogramOperator: rounded needs a share of 0, got 0\.5\."):
        operator.with_hellinger(0.5).rounded()


@pytest.mark.parametrize("n_new", [0, 1, 40])
def test_appended_rows_are_merged(n_new: int) -> None:
    X, V = rows(60 + n_new, 8), np.random.default_rng(3).normal(size=(60 + n_new, 2))
    start = HistogramOperator.from_rows(X[:60], transform="power", parameter=0.5, weights=np.arange(8.0))
    both, whole = start.append(X[60:]), HistogramOperator.from_rows(X)
    agree(both @ V, dense(X, X, np.arange(8.0), "power", 0.5) @ V)
    assert start.n == 60
    for part, expected in zip(both.histograms.columns, whole.histograms.columns, strict=True):
        np.testing.assert_array_equal(part, expected)
    np.testing.assert_array_equal(both.histograms.dims, whole.histograms.dims)


def test_other_weights_and_transforms_share_the_sorted_rows() -> None:
    operator = HistogramOperator.from_rows(rows(50, 6))
    for other in (operator.with_weights(np.ones(6)), operator.with_transform("power", 0.5)):
        assert other.histograms is operator.histograms


@pytest.mark.parametrize(("width", "most"), [(300, 15.0), (70_000, 16.0)])
def test_memory_is_at_most_sixteen_bytes_a_non_zero(width: int, most: float) -> None:
    X = scipy.sparse.random(400, width, density=0.2, format="csr", rng=np.random.default_rng(0))
    operator = HistogramOperator.from_rows(X)
    besides = 8 * (401 + 3 * (width + 1))  # where rows and dimensions start, weights and order
    assert operator.nbytes <= most * X.nnz + besides


def test_many_new_rows_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Z, V = rows(40, 6), rows(30, 6, seed=4), np.random.default_rng(3).normal(size=40)
    monkeypatch.setattr(module, "BATCH_NUMBERS", 20)
    agree(HistogramOperator.from_rows(X).product(Z, V), dense(Z, X, np.ones(6)) @ V)


@pytest.mark.parametrize(("kind", "parameter"), KINDS)
@pytest.mark.parametrize("n_new", [0, 1, 70])
def test_a_search_table_is_exact(n_new: int, kind: str, parameter: float | None) -> None:
    X, Z, weights = rows(300, 12), 1.2 * rows(n_new, 12, seed=2), np.random.default_rng(5).random(12)
    V = np.random.default_rng(3).normal(size=(300, 3))
    operator = HistogramOperator.from_rows(X, transform=kind, parameter=parameter, weights=weights)
    expected = dense(Z, X, weights, kind, parameter) @ V
    agree(SearchTable(operator, V).product(Z), expected)
    agree(SearchTable(operator, V[:, 0]).product(scipy.sparse.csr_array(Z)), expected[:, 0])


def test_a_lookup_table_is_exact_where_its_entries_are_and_close_between() -> None:
    rng = np.random.default_rng(6)
    X, V = rows(500, 10), rng.normal(size=(500, 2))
    operator = HistogramOperator.from_rows(X, weights=rng.random(10))
    table = LookupTable.from_operator(operator, V, bins=50)
    places = X.max(axis=0) * rng.integers(0, 51, (20, 10)) / 50
    agree(table.product(places), operator.product(places, V))
    Z = 1.2 * rows(80, 10, seed=2)  # beyond the greatest training value too
    exact = operator.product(Z, V)
    error = np.abs(table.product(Z) - exact).max() / np.abs(exact).max()
    finer = np.abs(LookupTable.from_operator(operator, V, bins=1000).product(Z) - exact).max() / np.abs(exact).max()
    assert finer < error < 0.02
    assert finer < 1e-3
    agree(LookupTable.from_operator(operator, V[:, 0], bins=50).product(Z), table.product(Z)[:, 0])


def test_a_lookup_table_is_fine_where_most_values_are() -> None:
    rng = np.random.default_rng(6)
    X, Z = rng.gamma(0.5, size=(2_000, 4)), rng.gamma(0.5, size=(500, 4))
    V = rng.normal(size=2_000)
    operator = HistogramOperator.from_rows(X)
    table, exact = LookupTable.from_operator(operator, V, bins=100), operator.product(Z, V)
    even = np.linspace(0.0, X.max(axis=0), 101)  # what bins of one width would give
    values = [operator.product(np.diag(row), V) for row in even]
    at_even = sum(np.interp(Z[:, d], even[:, d], [value[d] for value in values]) for d in range(4))
    errors = [np.sqrt(np.mean((found - exact) ** 2)) for found in (table.product(Z), at_even)]
    assert errors[0] < 0.5 * errors[1]
    ends = np.stack(
        [X.max(axis=0), np.sort(X, axis=0)[1_899], np.zeros(4)]
    )  # of the coarse bins, of the fine, and none
    np.testing.assert_allclose(table.product(ends), operator.product(ends, V), rtol=1e-9, atol=1e-9)


def test_a_table_has_as_many_bins_as_its_memory_allows_and_none_where_they_are_too_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Z = rows(200, 20), rows(10, 20, seed=1)
    operator, V = HistogramOperator.from_rows(X), np.random.default_rng(2).normal(size=(200, 3))
    for room, bins, precision in ((102, 50, 8), (101, 50, 4), (50, 49, 4), (9, 8, 4)):
        monkeypatch.setattr(histogram_tables, "TABLE_BYTES", 4 * 20 * 3 * room)
        table = operator.table(V, 50)
        assert isinstance(table, TableOnDemand)
        assert (table.table.bins, table.table.table.itemsize) == (bins, precision)
        assert table.table.table.nbytes <= histogram_tables.TABLE_BYTES
    monkeypatch.setattr(histogram_tables, "TABLE_BYTES", 4 * 20 * 3 * 9 - 1)
    for products in (operator.table(V, 50), operator.table(V, None)):
        agree(products.product(Z), operator.product(Z, V))


@pytest.mark.parametrize("bins", [1, 8, 50])
@pytest.mark.parametrize("room", [2**20, 4 * 5 * 51 * 20])
def test_a_table_is_off_by_no_more_than_it_says(bins: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram_tables, "TABLE_BYTES", room)
    rng = np.random.default_rng(6)
    X, V = rng.gamma(0.5, size=(300, 5)) * (rng.random((300, 5)) < 0.6), rng.normal(size=(300, 20))
    operator = HistogramOperator.from_rows(X, weights=rng.random(5))
    table = LookupTable.from_operator(operator, V, bins=bins)
    Z = rng.gamma(0.5, size=(2_000, 5))
    errors, most = np.abs(table.product(Z) - operator.product(Z, V)).max(axis=0), table.greatest_error(operator, V)
    assert (errors <= most).all()
    coarser = LookupTable.from_operator(operator, V, bins=max(1, bins // 4))
    assert bins == 1 or (most < 0.5 * coarser.greatest_error(operator, V)).all()
    with pytest.raises(InvalidInput, match="greatest_error is known without a transform only, got 'power'"):
        table.greatest_error(operator.with_transform("power", 0.5), V)


def test_a_handful_of_rows_is_compared_exactly_before_a_table_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Z = rows(300, 20), rows(5, 20, seed=1)
    operator, V = HistogramOperator.from_rows(X), np.random.default_rng(2).normal(size=(300, 12))
    at_once = operator.table(V, 20).product(Z)
    assert not np.allclose(at_once, operator.product(Z, V), rtol=1e-9)
    monkeypatch.setattr(histogram_tables, "QUICK", 0)
    products = operator.table(V, 20)
    assert operator.n_numbers > 20 * 21
    for _ in range(2):  # ten rows; the table is worth 12 to 24
        agree(products.product(scipy.sparse.csr_array(Z)), operator.product(Z, V))
    for _ in range(3):
        products.product(Z)
    np.testing.assert_array_equal(products.product(Z), at_once)
    made = operator.table(V, 20)
    assert made.table.bins == 20  # asked for: from now on it answers
    np.testing.assert_array_equal(made.product(Z[:1]), at_once[:1])


def test_new_rows_have_the_diagonal_of_the_kernel() -> None:
    operator = HistogramOperator.from_rows(rows(30, 8), weights=np.arange(8.0)).with_transform("power", 0.5)
    agree(operator.diag_of(rows(30, 8)), operator.diag())
    agree(operator.diag_of(rows(9, 8, seed=1)), np.sqrt(rows(9, 8, seed=1)) @ np.arange(8.0))


def test_a_lookup_table_knows_transforms() -> None:
    X, V = rows(500, 10), np.random.default_rng(6).normal(size=500)
    operator = HistogramOperator.from_rows(X, transform="exponential", parameter=2.0)
    Z = rows(80, 10, seed=2)
    exact = operator.product(Z, V)
    assert np.abs(LookupTable.from_operator(operator, V).product(Z) - exact).max() < 0.01 * np.abs(exact).max()


def test_no_rows_and_no_columns_are_fine() -> None:
    operator = HistogramOperator.from_rows(rows(4, 3))
    assert (operator @ np.empty((4, 0))).shape == (4, 0)
    assert operator.product(np.empty((0, 3)), np.ones((4, 2))).shape == (0, 2)
    assert operator.cross(np.empty((0, 3))).shape == (4, 0)
    assert operator.columns(np.empty(0, int)).shape == (4, 0)
    assert HistogramOperator.from_rows(np.empty((0, 3))).trace() == 0


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ([[0.0, np.nan]], "HistogramOperator: X must hold finite numbers only, got NaN or infinity."),
        ([[np.inf, 1.0]], "HistogramOperator: X must hold finite numbers only, got NaN or infinity."),
        ([[0.5, -1.0]], "HistogramOperator: X must hold numbers >= 0 only, got -1."),
        ([[0.5, 1.0, 2.0]], "HistogramOperator: X must be a matrix of any x 2, got 1 x 3."),
    ],
)
def test_wrong_rows_are_refused_in_one_sentence(make, wrong, sentence: str) -> None:
    operator = HistogramOperator.from_rows(rows(5, 2))
    for ask in (operator.append, operator.cross, lambda X: operator.product(X, np.ones(5))):
        with pytest.raises(InvalidInput) as caught:
            ask(make(wrong))
        assert str(caught.value) == sentence
    if len(wrong[0]) == 2:
        with pytest.raises(InvalidInput, match="HistogramOperator: X must hold"):
            HistogramOperator.from_rows(make(wrong))
        with pytest.raises(InvalidInput, match="HistogramOperator: X must hold"):
            SortedHistograms.from_rows(make(wrong))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda o: o @ np.ones(4), "V must have 5 rows, got 4."),
        (lambda o: o @ np.ones((4, 2)), "V must have 5 rows, got 4 x 2."),
        (lambda o: o @ 3.0, "V must have 5 rows, got a single number."),
        (lambda o: o @ np.full(5, np.nan), "V must hold finite numbers only, got NaN or infinity."),
        (lambda o: o @ ["a"] * 5, "V must be an array of numbers, got ['a']."),
        (lambda o: o.weight_inners(np.ones(5), np.ones((5, 2))), "U and V must have one shape, got (5, 1) and (5, 2)."),
        (lambda o: o.with_weights([1.0]), "weights must be 2 numbers, one for each dimension, got (1,)."),
        (lambda o: o.with_weights([1.0, -1.0]), "weights must be finite numbers >= 0, got one that is not."),
        (lambda o: o.with_weights(["a", "b"]), "weights must be numbers, got ['a', 'b']."),
        (lambda o: o.with_transform("cube", 3), "transform must be one of 'none', 'power', 'exponential', got 'cube'."),
        (lambda o: o.with_transform("power", 0.0), "parameter must be a finite number > 0, got 0.0."),
        (lambda o: o.with_transform("power", None), "parameter must be a finite number > 0, got None."),
        (lambda o: o.with_transform("exponential", np.inf), "parameter must be a finite number, got inf."),
        (lambda o: o.with_transform("none", 1.0), "parameter must be None without a transform, got 1.0."),
        (lambda o: o.transform_trace(), "transform must have a parameter to be differentiated by, got 'none'."),
        (lambda o: o.columns([5]), "indices must be whole numbers from 0 to 4, got [5]."),
        (lambda o: o.columns([-1]), "indices must be whole numbers from 0 to 4, got [-1]."),
        (lambda o: o.columns([0.5]), "indices must be whole numbers from 0 to 4, got [0.5]."),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_in_one_sentence(ask, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(HistogramOperator.from_rows(rows(5, 2)))
    assert str(caught.value) == f"HistogramOperator: {sentence}"


def test_a_table_of_no_bins_is_refused() -> None:
    with pytest.raises(InvalidInput, match="LookupTable: bins must be a whole number from 1 to 100,000, got 0"):
        LookupTable.from_operator(HistogramOperator.from_rows(rows(5, 2)), np.ones(5), bins=0)


def test_a_kernel_with_weights_knows_its_width_and_refuses_what_is_no_weight() -> None:
    with pytest.raises(InvalidInput, match="GeneralHistogramIntersection: A must have 3 columns"):
        GeneralHistogramIntersection(weights=(1.0, 0.0, 2.0)).gram(rows(5, 2))
    with pytest.raises(
        InvalidInput, match="GeneralHistogramIntersection: a weight must be a finite number >= 0, got -1"
    ):
        GeneralHistogramIntersection(weights=(1.0, -1.0))
    with pytest.raises(
        InvalidInput, match="GeneralHistogramIntersection: parameter must be a finite number > 0, got None"
    ):
        GeneralHistogramIntersection("power")
    agree(
        GeneralHistogramIntersection(weights=(0.0, 2.0)).gram(rows(5, 2)),
        dense(rows(5, 2), rows(5, 2), np.array([0.0, 2.0])),
    )


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize(("kind", "parameter"), [("none", None), ("power", 0.6)])
def test_a_share_of_hellingers_kernel_is_what_its_definition_says(
    kind: str, parameter: float | None, share: float
) -> None:
    rng = np.random.default_rng(4)
    X, Z, weights = rows(200, 12), 1.3 * rows(70, 12, seed=2), np.where(np.arange(12) == 3, 0.0, rng.random(12))
    V, U = rng.normal(size=(2, 200, 3))

    def defined(A: np.ndarray, B: np.ndarray, w: np.ndarray) -> np.ndarray:
        left, right = transformed(A, kind, parameter), transformed(B, kind, parameter)
        return (1 - share) * dense(A, B, w, kind, parameter) + share * np.sqrt(left) * w @ np.sqrt(right).T

    K, K_new = defined(X, X, weights), defined(X, Z, weights)
    plain = HistogramOperator.from_rows(X[:150], transform=kind, parameter=parameter, weights=weights)
    operator = plain.with_hellinger(share).append(X[150:])
    agree(operator @ V, K @ V)
    agree(operator @ V[:, 0], K @ V[:, 0])
    agree(operator.diag(), np.diag(K))
    agree(operator.diag(), (operator.with_hellinger(0.0)).diag())
    agree(operator.columns([0, 199, 0]), K[:, [0, -1, 0]])
    agree(operator.cross(scipy.sparse.csr_array(Z)), K_new)
    agree(operator.product(Z, V), K_new.T @ V)
    agree(SearchTable(operator, V).product(Z[:9]), K_new.T[:9] @ V)
    parts = [defined(X[:, [d]], X[:, [d]], np.ones(1)) for d in range(12)]
    agree(operator.weight_inners(U, V), [np.sum(U * (part @ V)) for part in parts])
    agree(operator.with_weights(2 * weights) @ V, 2 * K @ V)
    table = LookupTable.from_operator(operator, V, 400)
    np.testing.assert_allclose(table.product(Z), K_new.T @ V, atol=0.02 * np.abs(K_new.T @ V).max())
    if kind == "none":
        assert (np.abs(table.product(Z) - K_new.T @ V) <= table.greatest_error(operator, V) + 1e-9).all()
    with pytest.raises(InvalidInput, match="transform_inner needs a share of 0"):
        operator.transform_inner(U, V)


def test_a_share_beyond_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"share must be a number from 0 to 1, got 1\.5"):
        HistogramOperator.from_rows(rows(5, 3)).with_hellinger(1.5)
