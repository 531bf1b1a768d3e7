"""Gaussian processes on 10,090 to 100,000 histograms: products with the implicit kernel, predictions, training, and peers.

t0 is the time in which one thread adds up all sorted values (float64) and their row numbers (32 bit), 12 bytes a non-zero, in a
compiled loop with vector instructions. It is measured in turns with what is compared to it, on one thread, in two ways: with the
processor's caches emptied before each turn, so that both read from memory, and without. The limits are of the first; where all
non-zeros fit into the cache (10,090 images and 32 MB), t0 is much less without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from fewsight.gp import conjugate_gradients
from fewsight.kernels import HistogramIntersection, HistogramOperator, LookupTable, SearchTable
from fewsight.learners import HistogramGPClassifier

from histogram_data import Split, one_against_many
from timing import arguments, record, side_by_side, write

Records = list[dict[str, Any]]
Answer = tuple[np.ndarray, int | None]  # latent values of the test images, iterations

OTHERS = {"10,090": 10, "50,050": 50, "100,000": 100}  # images of each of 999 categories besides 100 of one
LIMITS = {"10,090": (3.3, 1.5), "50,050": (4.5, 2.0)}  # times t0: one column, and each of eight or more
PARTS = ("products", "building", "predictions", "growth", "training")
MOST_DENSE = 20_000  # images whose Gram matrix is formed, 3.2 GB
CACHE = np.ones(2**25)  # 256 MB, more than any cache


@numba.njit(fastmath=True)
def stream(values: np.ndarray, rows: np.ndarray) -> tuple[float, int]:
    """Every value and every row number, once."""
    total, count = 0.0, np.uint64(0)
    for t in range(values.size):
        total += values[t]
        count += rows[t]
    return total, count


def emptied() -> float:
    """Fill the caches with something else."""
    return float(CACHE.sum())


def products(split: Split, size: str, repeats: int) -> Records:
    """K v, and a column of K V, beside t0; on two threads beside one; memory."""
    operator, found = HistogramOperator.from_rows(split.X), []
    columns = operator.sorted_values
    bytes_each = operator.nbytes / len(columns.values)
    print(f"memory, n = {size}: {bytes_each:.2f} bytes a non-zero (limit 16)")
    found.append({"name": f"memory, n = {size}", "bytes_per_non_zero": bytes_each, "limit_bytes": 16.0})
    for k, limit in zip((1, 8, 16), (LIMITS[size][0], *[LIMITS[size][1]] * 2), strict=True):
        V = np.random.default_rng(0).normal(size=(operator.n, k))
        np.testing.assert_allclose((operator @ V)[:, 0], operator @ V[:, 0], rtol=1e-8, atol=1e-8)
        for way, before in (("from memory", emptied), ("from the cache where it fits", None)):
            ours, t0 = side_by_side(
                lambda V=V: operator @ V, lambda: stream(columns.values, columns.rows), repeats, before
            )
            name = f"{'K v' if k == 1 else f'K V of {k} columns, a column'}, n = {size}, {way}"
            line = record(name, ours / k, t0, "reading the non-zeros once")
            found.append(line | {"times_t0": ours / k / t0} | ({"limit_times_t0": limit} if before else {}))
            print(f"  {ours / k / t0:.2f} t0{f' (limit {limit})' if before else ''}")
        seconds = side_by_side(lambda V=V: on(2, operator, V), lambda V=V: on(1, operator, V), repeats)
        np.testing.assert_allclose(on(2, operator, V), on(1, operator, V), rtol=1e-10, atol=1e-10)
        found.append(record(f"K V of {k} columns on two threads, n = {size}", *seconds, "one thread"))
    return found


def on(n_threads: int, operator: HistogramOperator, V: np.ndarray) -> np.ndarray:
    """K V on this many threads, as far as the machine has them."""
    numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
    result = operator @ V
    numba.set_num_threads(1)
    return result


def building(split: Split, size: str, repeats: int) -> Records:
    """Sorting, against a comparison sort of each dimension by NumPy; appending against building anew."""

    def theirs() -> list[np.ndarray]:
        columns = split.X.tocsc()
        spans = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        return [np.argsort(columns.data[start:stop], kind="stable") for start, stop in spans]

    start, rest = HistogramOperator.from_rows(split.X[:-100]), split.X[-100:]
    start.append(rest)
    sorting = side_by_side(lambda: HistogramOperator.from_rows(split.X), theirs, max(3, repeats // 3))
    adding = side_by_side(
        lambda: start.append(rest), lambda: HistogramOperator.from_rows(split.X), max(3, repeats // 3)
    )
    return [
        record(f"build, n = {size}", *sorting, "tocsc and np.argsort of each dimension"),
        record(f"append 100 rows, n = {size}", *adding, "building anew"),
    ]


def predictions(split: Split, size: str, repeats: int) -> Records:
    """Dual weights of one class: looked up, exact by search and exact by merging."""
    operator, X, one = HistogramOperator.from_rows(split.X), split.X_test, split.X_test[:1]
    dual_weights = solved(operator, split.targets)
    searched, looked_up = SearchTable(operator, dual_weights), LookupTable.from_operator(operator, dual_weights)
    exact = operator.product(X, dual_weights)
    np.testing.assert_allclose(searched.product(one), exact[:1], rtol=1e-8, atol=1e-10)
    areas = [float(roc_auc_score(split.targets_test, latent)) for latent in (looked_up.product(X), exact)]
    quick, merged, alone, once = (
        side_by_side(work, lambda: None, repeats)[0]
        for work, repeats in (
            (lambda: looked_up.product(X), repeats),
            (lambda: operator.product(X, dual_weights), repeats),
            (lambda: searched.product(one), 20 * repeats),
            (lambda: looked_up.product(one), 20 * repeats),
        )
    )
    each = quick / X.nnz * 1e9
    print(f"look-up: {each:.2f} ns a non-zero (limit 3); AUC {areas[0]:.4f}, exact {areas[1]:.4f} (limit 0.001)")
    more = {"nanoseconds_per_non_zero": each, "limit_nanoseconds": 3.0, "roc_auc": areas[0], "roc_auc_exact": areas[1]}
    per = X.shape[0]
    return [
        record(f"look-up, an image of {per}, n = {size}", quick / per, merged / per, "exact, merged batch", **more),
        record(f"exact by search, one image, n = {size}", alone, once, "look-up of one image"),
    ]


def solved(operator: HistogramOperator, targets: np.ndarray, noise: float = 10.0) -> np.ndarray:
    """Dual weights with balanced noise, by plain conjugate gradients."""
    shares = np.where(targets > 0, (targets > 0).mean(), (targets < 0).mean())
    system = scipy.sparse.linalg.LinearOperator(
        operator.shape, matvec=lambda v: operator @ v.ravel() + 2 * noise * shares * v.ravel()
    )
    return scipy.sparse.linalg.cg(system, targets, rtol=1e-6)[0]


def growth(split: Split, size: str, repeats: int) -> Records:
    """K v at 100,000 beside this size."""
    large = HistogramOperator.from_rows(one_against_many(n_others=OTHERS["100,000"], n_test=1).X)
    small = HistogramOperator.from_rows(split.X)
    v, w = (np.random.default_rng(0).normal(size=operator.n) for operator in (large, small))
    seconds = side_by_side(lambda: large @ v, lambda: small @ w, repeats)
    print(f"K v at {large.n:,}: {seconds[0] / seconds[1]:.1f} times that at {size} (limit 16)")
    return [record("K v, n = 100,000", *seconds, f"K v, n = {size}", limit_ratio=1 / 16)]


def training(split: Split, size: str, repeats: int) -> Records:
    """One class against all others, from the rows on, with the area under the curve on held-out images.

    Ours: dual weights by conjugate gradients to a relative residual, and the whole learner, which also learns the noise, how
    sure to be and what unknown images look like. Peers that need the Gram matrix take part where it is not too large.
    """
    targets = split.targets

    def weights_of(n_classes: int, tolerance: float) -> Answer:
        operator = HistogramOperator.from_rows(split.X)
        columns = np.where(split.categories[:, None] == np.arange(n_classes), 1.0, -1.0)
        found = conjugate_gradients(operator, columns, 0.1, tolerance=tolerance)
        return operator.product(split.X_test, found.columns)[:, 0], found.iterations

    def whole() -> Answer:
        learner = HistogramGPClassifier(noise_variance="evidence").fit(split.X, targets)
        return learner.latent_mean(split.X_test)[:, -1], learner.n_iter_

    def additive() -> Answer:
        sampler = AdditiveChi2Sampler()
        linear = LinearSVC(class_weight="balanced", random_state=0).fit(sampler.fit_transform(split.X), targets)
        return linear.decision_function(sampler.transform(split.X_test)), None

    ways: dict[str, Callable[[], Answer]] = {
        "ours, noise 0.1, residual 1e-2": lambda: weights_of(1, 1e-2),
        "ours, noise 0.1, residual 1e-6": lambda: weights_of(1, 1e-6),
        "ours, eight classes, noise 0.1, residual 1e-6": lambda: weights_of(8, 1e-6),
        "HistogramGPClassifier, noise learned": whole,
    }
    ours = [timed(work, split, way, size) for way, work in ways.items()]
    peers = [timed(additive, split, "AdditiveChi2Sampler + LinearSVC", size)]
    if split.X.shape[0] <= MOST_DENSE:
        peers += dense_peers(split, size)
    pairs = [(mine, peer) for mine in ours for peer in peers]
    compared = [record(mine["name"], mine["seconds"], peer["seconds"], peer["way"]) for mine, peer in pairs]
    return [*ours, *peers, *compared, *(on_two_threads(ways[mine["way"]], mine, split, size) for mine in ours)]


def dense_peers(split: Split, size: str) -> Records:
    """What needs the whole Gram matrix."""
    gram_values, targets = HistogramIntersection().gram, split.targets
    K_test = gram_values(split.X_test, split.X)
    np.testing.assert_allclose(
        gram_values(split.X[:5], split.X) @ targets, (HistogramOperator.from_rows(split.X) @ targets)[:5]
    )

    def cholesky() -> Answer:
        A = gram_values(split.X)
        A.flat[:: len(A) + 1] += 0.1
        return K_test @ cho_solve(cho_factor(A, overwrite_a=True, check_finite=False), targets), None

    def support_vectors() -> Answer:
        machine = SVC(kernel="precomputed", class_weight="balanced").fit(gram_values(split.X), targets)
        return machine.decision_function(K_test), None

    return [
        timed(cholesky, split, "Gram matrix and Cholesky, noise 0.1", size),
        timed(support_vectors, split, "Gram matrix and SVC", size),
    ]


def on_two_threads(work: Callable[[], Answer], alone: dict[str, Any], split: Split, size: str) -> dict[str, Any]:
    """The same on two threads, beside one."""
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    both = timed(work, split, f"{alone['way']}, two threads", size)
    numba.set_num_threads(1)
    return record(both["name"], both["seconds"], alone["seconds"], "one thread", n_iterations=both["n_iterations"])


def timed(work: Callable[[], Answer], split: Split, way: str, size: str) -> dict[str, Any]:
    """Seconds, iterations where there are any, and the area under the curve."""
    answers: list[Answer] = []
    seconds = side_by_side(lambda: answers.append(work()), lambda: None, 1)[0]
    latent, iterations = answers[-1]
    area = float(roc_auc_score(split.targets_test, latent))
    print(f"{way}, n = {size}: {seconds:.2f} s, AUC {area:.4f}" + (f", {iterations} iterations" if iterations else ""))
    return {"name": f"{way}, n = {size}", "way": way, "seconds": seconds, "roc_auc": area, "n_iterations": iterations}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--sizes", nargs="+", choices=list(LIMITS), help="how many images; --quick: 10,090")
    options = parser.parse_args()
    parts: dict[str, Callable[[Split, str, int], Records]] = {
        part: globals()[part] for part in PARTS if part in options.parts
    }
    numba.set_num_threads(1)
    found: Records = []
    if "training" in parts:
        warm = one_against_many(n_others=1, n_test=1)
        HistogramGPClassifier(noise_variance="evidence").fit(warm.X, warm.targets).latent(warm.X_test)  # compiles
    with threadpool_limits(1):
        for size in options.sizes or (["10,090"] if options.quick else list(LIMITS)):
            split = one_against_many(n_others=OTHERS[size])
            print(f"n = {split.X.shape[0]:,}, {split.X.nnz / np.prod(split.X.shape):.1%} non-zero, one thread")
            for part, work in parts.items():
                if not (part in ("growth", "training") and options.quick) and not (
                    part == "growth" and size != "10,090"
                ):
                    found += work(split, size, 5 if options.quick else 15)
    write(found, options.json)


if __name__ == "__main__":
    main()
