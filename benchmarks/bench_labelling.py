"""What a labelling page waits for: an answer and the next question while another thread re-learns without pause, a grid of labels
at once, and the memory of kept kernel values.

    python benchmarks/bench_labelling.py [--quick] [--json FILE] [--images]

A page holds three questions. An answer is learned, then a question is chosen beside those that are still held. What the other
thread has learned is adopted between two answers, and its time counts as part of the answer that follows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench_active import N_CLASSES, image_pool
from fewsight.active import ActiveLearner, Pool, Relearning, VectorPool
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

from timing import arguments, write

N_POOL, N_LABELS, N_ANSWERS, HELD = 10_000, 300, 200, 3
LIMIT_95, LIMIT_GRID = 0.050, 1.0  # seconds
GRID = 100
KEPT = 512 * 2**20


def vectors(n_pool: int, width: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Around a centre for each class, and the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=n_pool)
    return rng.normal(size=(N_CLASSES, width))[classes] + rng.normal(size=(n_pool, width)), classes


def started(pool: Pool, classes: np.ndarray, n_labels: int) -> ActiveLearner:
    """As a session has it: nothing is re-learned inside an answer."""
    active = ActiveLearner(GPClassifier(pool.parameter), relearn_every=None).fit(pool)
    active.teach(range(n_labels), classes[:n_labels])
    return active.relearn()


class Beside:
    """Re-learns in a thread of its own, again and again; takes a new job as soon as the last was adopted."""

    def __init__(self, active: ActiveLearner) -> None:
        self._active, self._given, self._stop = active, threading.Event(), False
        self.job, self.n_adopted, self.thread = active.relearning(), 0, threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop:
            self.job.run()
            self._given.clear()
            self._given.wait(timeout=60)

    def adopt(self) -> None:
        """Between two answers."""
        if self.job.done:
            self.n_adopted += self._active.adopt(self.job)
            self.job: Relearning = self._active.relearning()
            self._given.set()

    @contextmanager
    def running(self) -> Iterator[None]:
        self.thread.start()
        try:
            yield
        finally:
            self._stop = True
            self._given.set()
            self.thread.join()


def bench_answers(pool: Pool, what: str, classes: np.ndarray, n_labels: int, n_answers: int) -> dict[str, Any]:
    """The distribution of the time from an answer to the next question."""
    active = started(pool, classes, n_labels)
    held: list[int] = []
    for _ in range(HELD):
        held += active.query(held=held).indices.tolist()
    beside, seconds, worked = Beside(active), [], []
    with beside.running():
        for _ in range(n_answers):
            begun, before = time.perf_counter(), time.thread_time()
            beside.adopt()
            answered = held.pop(0)
            active.teach([answered], [classes[answered]])
            held += active.query(held=held).indices.tolist()
            seconds.append(time.perf_counter() - begun)
            worked.append(time.thread_time() - before)
            time.sleep(0.02)  # a very quick person
    shares = {f"p{share}": float(np.percentile(seconds, share)) for share in (50, 90, 95, 99, 100)}
    shown = ", ".join(f"{name} {value * 1e3:.1f}" for name, value in shares.items())
    name = f"answer to next question, {what} of {len(pool):,}, {n_labels} labels and more, re-learning without pause"
    print(f"{name}: {shown} ms (limit of p95 {LIMIT_95 * 1e3:.0f}); {beside.n_adopted} re-learnings adopted")
    processor = {f"processor_p{share}": float(np.percentile(worked, share)) for share in (50, 95)}  # whatever else runs
    spent = ", ".join(f"{value * 1e3:.1f}" for value in processor.values())
    print(f"  processor time of the answering thread, p50 and p95: {spent} ms")
    measured = {**shares, **processor, "adopted": beside.n_adopted}
    return {"name": name, "ours_seconds": shares["p95"], "limit_seconds": LIMIT_95, **measured}


def bench_grid(pool: Pool, what: str, classes: np.ndarray, n_labels: int, repeats: int) -> dict[str, Any]:
    """Many labels at once, and the next question."""
    active, seconds, worked = started(pool, classes, n_labels), [], []
    for turn in range(repeats):
        some = np.arange(n_labels + turn * GRID, n_labels + (turn + 1) * GRID)
        begun, before = time.perf_counter(), time.thread_time()
        active.teach(some, classes[some])
        active.query()
        seconds.append(time.perf_counter() - begun)
        worked.append(time.thread_time() - before)
    name = f"a grid of {GRID} labels and the next question, {what} of {len(pool):,}, from {n_labels} labels on"
    print(f"{name}: {np.median(seconds) * 1e3:.0f} ms, at most {max(seconds) * 1e3:.0f} (limit {LIMIT_GRID * 1e3:.0f})")
    print(f"  processor time: {np.median(worked) * 1e3:.0f} ms, at most {max(worked) * 1e3:.0f}")
    measured = {"processor_seconds": max(worked)}
    return {"name": name, "ours_seconds": max(seconds), "limit_seconds": LIMIT_GRID, **measured}


def bench_memory(n_pool: int, n_labels: int, n_kernels: int = 7) -> dict[str, Any]:
    """Kernel values that are kept after very many labels, and that they are right."""
    X, _ = vectors(n_pool, 8)
    kernels = [RBF(scale=2.0 + number) for number in range(n_kernels)]
    pool, asked = VectorPool(X, kernels), np.arange(n_labels)
    for start in range(0, n_labels, 50):
        pool.rows(asked[start : start + 50], np.ones(n_kernels))
    some = np.array([0, n_labels - 1])
    exact = VectorPool(X, kernels).rows(some, np.ones(n_kernels))
    np.testing.assert_allclose(pool.rows(some, np.ones(n_kernels)), exact, rtol=1e-6)
    name = f"kept kernel values: {n_labels:,} labels, {n_pool:,} examples, {n_kernels} kernels"
    whole = 8 * n_labels * n_pool * n_kernels / 2**20
    print(f"{name}: {pool.kept.n_bytes / 2**20:.0f} MB (limit {KEPT / 2**20:.0f}; all of them {whole:.0f})")
    return {"name": name, "bytes": pool.kept.n_bytes, "limit_bytes": KEPT}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--images", action="store_true", help="also on images as dense_pmk sees them")
    options = parser.parse_args()
    n_pool, n_labels, n_answers = (2_000, 60, 40) if options.quick else (N_POOL, N_LABELS, N_ANSWERS)
    sys.setswitchinterval(1e-3)
    X, classes = vectors(n_pool)
    pools: dict[str, Pool] = {"vectors": VectorPool(X, RBF(scale=11.0))}
    if options.images:
        pools["images"] = image_pool(n_pool)
    records = []
    with threadpool_limits(1):
        for what, pool in pools.items():
            records.append(bench_answers(pool, what, classes, n_labels, n_answers))
            records.append(bench_grid(pool, what, classes, n_labels, 3 if options.quick else 5))
        records.append(bench_memory(*((2_000, 100) if options.quick else (20_000, 1_000))))
    write(records, options.json)


if __name__ == "__main__":
    main()
