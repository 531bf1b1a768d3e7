"""Products with the implicit histogram intersection kernel, against the time it takes to read the same non-zeros once.

t0 is the time of one thread to add up all sorted values (float64) and all their row numbers (32 bit), 12 bytes a non-zero, in a
compiled loop with vector instructions; it is measured in turns with what is compared to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from sklearn.metrics import roc_auc_score

from fewsight.kernels import HistogramOperator, LookupTable, SearchTable

from histogram_data import Split, one_against_many
from timing import arguments, record, side_by_side, write

Records = list[dict[str, Any]]

STREAM = "reading the non-zeros once"


@numba.njit(fastmath=True)
def stream(values: np.ndarray, rows: np.ndarray) -> tuple[float, int]:
    """Every value and every row number, once."""
    total, count = 0.0, np.uint64(0)
    for t in range(values.size):
        total += values[t]
        count += rows[t]
    return total, count


def sizes(quick: bool) -> dict[str, int]:
    """Images of each of 999 categories besides 100 of one."""
    return {"10,090": 10} if quick else {"10,090": 10, "50,050": 50}


def bench_products(operator: HistogramOperator, size: str, repeats: int) -> Records:
    """K v, and K V of eight columns by column, beside t0."""
    columns = operator.sorted_values
    V = np.random.default_rng(0).normal(size=(operator.n, 16))
    limits = {"10,090": (3.3, 1.5), "50,050": (4.5, 2.0)}.get(size, (np.inf, np.inf))
    found = []
    for k, limit in ((1, limits[0]), (8, limits[1]), (16, limits[1])):
        numbers = np.ascontiguousarray(V[:, :k])
        np.testing.assert_allclose((operator @ numbers)[:, 0], operator @ V[:, 0], rtol=1e-8, atol=1e-8)
        ours, t0 = side_by_side(
            lambda numbers=numbers: operator @ numbers, lambda: stream(columns.values, columns.rows), repeats
        )
        name = f"K V of {k} columns, a column, n = {size}" if k > 1 else f"K v, n = {size}"
        found.append(
            record(name, ours / k, t0, STREAM, limit_ratio=1 / limit, nanoseconds=ours / k / len(columns.values) * 1e9)
        )
    return found


def bench_threads(operator: HistogramOperator, size: str, repeats: int) -> Records:
    """Two threads beside one."""
    found = []
    for k in (1, 8):
        V = np.random.default_rng(0).normal(size=(operator.n, k))

        def on(n_threads: int, V: np.ndarray = V) -> np.ndarray:
            before = numba.get_num_threads()
            numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
            try:
                return operator @ V
            finally:
                numba.set_num_threads(before)

        np.testing.assert_allclose(on(2), on(1), rtol=1e-10, atol=1e-10)
        seconds = side_by_side(lambda: on(2), lambda: on(1), repeats)
        found.append(record(f"K V of {k} columns on two threads, n = {size}", *seconds, "one thread"))
    return found


def bench_build(X: scipy.sparse.csr_array, size: str, repeats: int) -> Records:
    """Sorting, against a comparison sort of each dimension by NumPy."""

    def theirs() -> list[np.ndarray]:
        columns = X.tocsc()
        spans = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        return [np.argsort(columns.data[start:stop], kind="stable") for start, stop in spans]

    seconds = side_by_side(lambda: HistogramOperator.from_rows(X), theirs, repeats)
    return [record(f"build, n = {size}", *seconds, "tocsc and np.argsort of each dimension")]


def bench_memory(operator: HistogramOperator, size: str) -> Records:
    """Bytes of all arrays for each non-zero."""
    bytes_each = operator.nbytes / len(operator.values)
    print(f"memory, n = {size}: {bytes_each:.2f} bytes a non-zero (limit 16)")
    return [{"name": f"memory, n = {size}", "bytes_per_non_zero": bytes_each, "limit": 16.0}]


def bench_prediction(operator: HistogramOperator, split: Split, size: str, repeats: int) -> Records:
    """One column of dual weights: exact by search, exact by merging, and looked up, with what that costs in ranking."""
    dual_weights = solved(operator, split.targets)
    X, one = split.X_test, split.X_test[:1]
    searched, looked_up = SearchTable(operator, dual_weights), LookupTable.from_operator(operator, dual_weights)
    exact = operator.product(X, dual_weights)
    np.testing.assert_allclose(searched.product(one), exact[:1], rtol=1e-8, atol=1e-10)
    areas = [roc_auc_score(split.targets_test, latent) for latent in (exact, looked_up.product(X))]
    merged = seconds_of(lambda: operator.product(X, dual_weights), repeats) / X.shape[0]
    quick = seconds_of(lambda: looked_up.product(X), repeats)
    alone = seconds_of(lambda: searched.product(one), 20 * repeats)
    found = [
        record(f"look-up, an image, n = {size}", quick / X.shape[0], merged, "exact, merged batch"),
        record(f"exact by search, an image, n = {size}", alone, merged, "exact, merged batch"),
    ]
    found[0] |= {"nanoseconds_per_non_zero": quick / X.nnz * 1e9, "limit_nanoseconds": 3.0}
    found[0] |= {"roc_auc": areas[1], "roc_auc_exact": areas[0]}
    print(f"  {quick / X.nnz * 1e9:.2f} ns a non-zero; AUC {areas[1]:.4f}, exact {areas[0]:.4f}")
    return found


def solved(operator: HistogramOperator, targets: np.ndarray, noise: float = 10.0) -> np.ndarray:
    """Dual weights with balanced noise, by plain conjugate gradients."""
    shares = np.where(targets > 0, (targets > 0).mean(), (targets < 0).mean())
    system = scipy.sparse.linalg.LinearOperator(
        operator.shape, matvec=lambda v: operator @ v.ravel() + 2 * noise * shares * v.ravel()
    )
    return scipy.sparse.linalg.cg(system, targets, rtol=1e-6)[0]


def bench_growth(small: HistogramOperator, repeats: int) -> Records:
    """K v at 100,000 beside 10,090."""
    large = HistogramOperator.from_rows(one_against_many(n_others=100, n_test=1).X)
    v, w = np.random.default_rng(0).normal(size=large.n), np.random.default_rng(0).normal(size=small.n)
    ours, less = side_by_side(lambda: large @ v, lambda: small @ w, repeats)
    return [record("K v, n = 100,000", ours, less, "K v, n = 10,090", limit_ratio=1 / 16, n=large.n)]


def seconds_of(work: Callable[[], Any], repeats: int) -> float:
    """Median seconds."""
    return side_by_side(work, lambda: None, repeats)[0]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--growth", action="store_true", help="100,000 images too")
    options = parser.parse_args()
    numba.set_num_threads(1)
    found: Records = []
    small = None
    for size, n_others in sizes(options.quick).items():
        split = one_against_many(n_others=n_others)
        operator = HistogramOperator.from_rows(split.X)
        small = small or operator
        repeats = 15 if size == "10,090" else 7
        print(f"n = {split.X.shape[0]:,}, {split.X.nnz / np.prod(split.X.shape):.1%} non-zero")
        found += bench_products(operator, size, repeats)
        found += bench_threads(operator, size, repeats)
        found += bench_build(split.X, size, 3)
        found += bench_memory(operator, size)
        found += bench_prediction(operator, split, size, 3)
    if options.growth:
        found += bench_growth(small, 5)
    write(found, options.json)


if __name__ == "__main__":
    main()
