"""The Gram matrix of spatial pyramids against a naive parallel numba loop over dense rows, in the same run.

The pyramids are made here: some 1,000 to 2,700 local features on each image's grid, their words Zipf-like and coherent in
space, counted in 1 + 4 + 16 cells with weights 1/4, 1/4 and 1/2. About a fifth of the 8,400 numbers of an image is not zero.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy.sparse

from fewsight.kernels import ExponentialChiSquare, HistogramIntersection

from timing import arguments, record, side_by_side, write

N_WORDS = 400
LEVELS = ((1, 0.25), (2, 0.25), (4, 0.5))  # cells on a side, weight
N_IMAGES, N_IMAGES_QUICK = 3030, 600


def pyramid(rng: np.random.Generator, zipf: np.ndarray) -> scipy.sparse.csr_array:
    """One image: a few regions, each with words of its own on top of what all images share."""
    height, width = rng.integers(32, 53, size=2)
    y, x = ((grid.ravel() + 0.5) / side for grid, side in zip(np.mgrid[:height, :width], (height, width), strict=True))
    centres = rng.random((rng.integers(3, 9), 2))
    region = np.argmin((y[:, None] - centres[:, 0]) ** 2 + (x[:, None] - centres[:, 1]) ** 2, axis=1)
    words = np.empty(len(region), dtype=np.int64)
    for place, own in enumerate(rng.dirichlet(60 * zipf + 1e-3, size=len(centres))):
        here = region == place
        words[here] = rng.choice(N_WORDS, here.sum(), p=0.9 * own + 0.1 * zipf)
    cells = [(y * side).astype(int) * side + (x * side).astype(int) for side, _ in LEVELS]
    counts = [
        weight * np.bincount(cell * N_WORDS + words, minlength=side * side * N_WORDS)
        for cell, (side, weight) in zip(cells, LEVELS, strict=True)
    ]
    row = np.concatenate(counts)[None]
    return scipy.sparse.csr_array(row / row.sum())


def pyramids(n: int) -> scipy.sparse.csr_array:
    """Spatial pyramids of n images, L1-normalised."""
    rng = np.random.default_rng(0)
    zipf = np.arange(1, N_WORDS + 1) ** -0.6
    return scipy.sparse.csr_array(scipy.sparse.vstack([pyramid(rng, zipf / zipf.sum()) for _ in range(n)]))


def naive(X: np.ndarray) -> np.ndarray:
    """What one would write first: all pairs of dense rows."""
    n, d = X.shape
    K = np.empty((n, n))
    for i in numba.prange(n):
        for j in range(n):
            total = 0.0
            for k in range(d):
                total += min(X[i, k], X[j, k])
            K[i, j] = total
    return K


def resident_bytes() -> int:
    """What this process holds in memory now, whoever allocated it."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def peak_extra_bytes(work: Callable[[], Any]) -> int:
    """How far the process grows while it works, looked at every millisecond."""
    ctypes.CDLL(None).malloc_trim(0)  # hand back what earlier work freed, or reusing it would not count
    before, peak, done = resident_bytes(), 0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, resident_bytes() - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    result = work()
    peak = max(peak, resident_bytes() - before)
    done.set()
    watcher.join()
    del result
    return peak


def bench_naive(X: scipy.sparse.csr_array) -> list[dict[str, Any]]:
    """Ours against the naive loop, without and with fastmath, on the same rows."""
    kernel, dense = HistogramIntersection(), X.toarray()
    K, size = kernel.gram(X), 8 * X.shape[0] ** 2
    extra = peak_extra_bytes(lambda: kernel.gram(X))
    print(f"peak extra memory {extra / 2**20:.0f} MiB; the result is {size / 2**20:.0f} MiB")
    records = []
    for peer, options in [("naive numba loop", {}), ("naive numba loop, fastmath", {"fastmath": True})]:
        loop = numba.njit(parallel=True, **options)(naive)
        np.testing.assert_allclose(loop(dense[:100]), K[:100, :100], rtol=1e-9)  # warms up, and proves equal work
        seconds = side_by_side(lambda: kernel.gram(X), lambda loop=loop: loop(dense), repeats=1)
        name = f"gram of {X.shape[0]} spatial pyramids"
        records.append(record(name, *seconds, peer, peak_extra_bytes=extra, result_bytes=size))
    return records


def bench_threads(X: scipy.sparse.csr_array, repeats: int) -> dict[str, Any]:
    """Ours on all threads against ours on one."""
    kernel, threads = HistogramIntersection(), numba.get_num_threads()

    def alone() -> None:
        numba.set_num_threads(1)
        kernel.gram(X)
        numba.set_num_threads(threads)

    seconds = side_by_side(lambda: kernel.gram(X), alone, repeats)
    return record(f"gram of {X.shape[0]} spatial pyramids, {threads} threads", *seconds, "ours on one thread")


def bench_chi_square(X: scipy.sparse.csr_array, n: int) -> dict[str, Any]:
    """The exponential chi-square kernel against histogram intersection on the same rows."""
    some = X[:n]
    ExponentialChiSquare().gram(some[:5])
    seconds = side_by_side(lambda: ExponentialChiSquare().gram(some), lambda: HistogramIntersection().gram(some), 2)
    return record(f"exponential chi-square of {n} spatial pyramids", *seconds, "our histogram intersection")


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    X = pyramids(N_IMAGES_QUICK if options.quick else N_IMAGES)
    print(
        f"{X.shape[0]} x {X.shape[1]}, {X.nnz / X.shape[0] / X.shape[1]:.1%} not zero, {numba.get_num_threads()} threads"
    )
    HistogramIntersection().gram(X[:5])
    write([*bench_naive(X), bench_threads(X, repeats=3), bench_chi_square(X, 500)], options.json)


if __name__ == "__main__":
    main()
