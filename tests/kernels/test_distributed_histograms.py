"""Dimensions shared out among workers: the same numbers as on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator, LookupTable

RNG = np.random.default_rng(0)
X = RNG.random((300, 23)) * (RNG.random((300, 23)) < 0.4)
Z = RNG.random((20, 23)) * (RNG.random((20, 23)) < 0.4)
U, V, WEIGHTS = RNG.normal(size=(300, 9)), RNG.normal(size=(300, 9)), RNG.random(23)
METHODS = ("diag", "trace", "dimension_traces", "transform_trace")


class AtOnce:
    """A client that does what it is asked there and then."""

    def __init__(self, n_workers: int = 3) -> None:
        self.n_workers = n_workers

    def scheduler_info(self, n_workers: int = -1) -> dict[str, Any]:
        return {"workers": {f"worker-{k}": {} for k in range(self.n_workers)}}

    def submit(
        self, work: Any, *arguments: Any, pure: bool, workers: Any = None, allow_other_workers: bool = False
    ) -> Any:
        return work(*arguments)

    def gather(self, futures: list[Any]) -> list[Any]:
        return futures

    def scatter(self, value: Any, broadcast: bool, hash: bool) -> Any:
        return value


def compare(client: Any, make: Any, **options: Any) -> None:
    """Everything that the two can be asked, and those made from them."""
    alone = HistogramOperator.from_rows(X, weights=WEIGHTS).with_transform("power", 0.7)
    shared = DistributedHistogramOperator.from_rows(
        client, make(X), weights=WEIGHTS, transform="power", parameter=0.7, **options
    )
    agree(shared, alone)
    agree(shared.with_transform("exponential", 2.0), alone.with_transform("exponential", 2.0))
    agree(shared.append(Z), alone.append(Z), np.concatenate([V, V[:20]]))
    lookup = shared.lookup_table(V, bins=20).product(Z)
    np.testing.assert_allclose(lookup, LookupTable.from_operator(alone, V, bins=20).product(Z), rtol=1e-10)
    np.testing.assert_allclose(shared.diag_of(Z), alone.diag_of(Z), rtol=1e-10)
    for bins in (20, None):
        np.testing.assert_allclose(shared.table(V, bins).product(Z), alone.table(V, bins).product(Z), rtol=1e-10)
    mixed, expected = shared.with_hellinger(0.4), alone.with_hellinger(0.4)
    np.testing.assert_allclose(mixed @ V, expected @ V, rtol=1e-10, atol=1e-10)
    for bins in (20, None):
        np.testing.assert_allclose(mixed.table(V, bins).product(Z), expected.table(V, bins).product(Z), rtol=1e-10)


def agree(shared: DistributedHistogramOperator, alone: HistogramOperator, V: np.ndarray = V) -> None:
    assert shared.shape == alone.shape
    assert shared.width == alone.width
    np.testing.assert_array_equal(shared.weights, alone.weights)
    pairs = [(getattr(shared, name)(), getattr(alone, name)()) for name in METHODS]
    for ask in (
        lambda o: o @ V,
        lambda o: o @ V[:, 0],
        lambda o: o.weight_inners(V, V),
        lambda o: o.transform_inner(V, V),
        lambda o: o.product(Z, V),
        lambda o: o.product(Z, V[:, 0]),
        lambda o: o.cross(Z),
        lambda o: o.columns([3, 1]),
    ):
        pairs.append((ask(shared), ask(alone)))
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"n_parts": 1}, {"n_parts": 40}])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_shared_out_dimensions_give_the_same_numbers(make: Any, options: dict[str, int]) -> None:
    compare(AtOnce(), make, **options)


def test_pieces_that_the_workers_have_are_taken_as_they_are() -> None:
    shared = DistributedHistogramOperator.from_pieces(AtOnce(), [X[:, :3], X[:, 3:20], X[:, 20:]])
    assert shared.bounds == (0, 3, 20, 23)
    np.testing.assert_allclose(shared @ V, HistogramOperator.from_rows(X) @ V, rtol=1e-10)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: DistributedHistogramOperator.from_rows(None, X), "client must be a distributed.Client, got NoneType."),
        (lambda: DistributedHistogramOperator.from_rows(AtOnce(0), X), "client must have one or more workers, got none."),
        (lambda: DistributedHistogramOperator.from_rows(AtOnce(), X, n_parts=0), "n_parts must be a whole number >= 1, got 0."),
        (lambda: DistributedHistogramOperator.from_pieces(AtOnce(), []), "pieces must be one or more, got none."),
        (lambda: DistributedHistogramOperator.from_pieces(AtOnce(), [X, Z]), "pieces must have the same rows, got [300, 20]."),
    ],
)  # fmt: skip
def test_what_cannot_be_shared_out_is_refused(ask: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask()
    assert str(caught.value) == f"DistributedHistogramOperator: {sentence}"


def test_wrong_rows_and_weights_are_refused_as_on_one_machine() -> None:
    shared = DistributedHistogramOperator.from_rows(AtOnce(), X)
    for ask in (
        lambda: shared.append(-Z),
        lambda: shared.product(Z[:, 1:], V),
        lambda: shared.with_weights([1.0]),
        lambda: shared.with_transform("power", -1.0),
        lambda: shared @ V[1:],
    ):
        with pytest.raises(InvalidInput, match="HistogramOperator: "):
            ask()


@pytest.mark.slow
def test_two_processes_give_the_same_numbers(cluster: Any) -> None:
    compare(cluster, scipy.sparse.csr_array)


@pytest.mark.slow
def test_pieces_read_by_the_workers_never_pass_through_the_client(cluster: Any) -> None:
    pieces = [cluster.submit(piece_of_file, k, pure=False) for k in range(2)]
    shared = DistributedHistogramOperator.from_pieces(cluster, pieces)
    holders = {address for places in cluster.who_has(list(shared.parts)).values() for address in places}
    assert len(holders) == 2
    whole = np.concatenate([piece_of_file(0), piece_of_file(1)], axis=1)
    np.testing.assert_allclose(shared @ V, HistogramOperator.from_rows(whole) @ V, rtol=1e-10)
    with pytest.raises(InvalidInput, match="HistogramOperator: V must have 300 rows, got 299 x 9"):
        shared @ V[1:]


def piece_of_file(k: int) -> np.ndarray:
    return np.random.default_rng(k).random((300, 5))
