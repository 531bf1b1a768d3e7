"""Weights of 1,000 windows for each of 101 classes, with their training Gram matrices: time and memory.

Images are made up: 2,000 local words on a grid, some of them typical of the class and the place. A Gram matrix is made of the
words in a window, as the channel `windows` does it. Seconds are of this machine with as many threads as OMP_NUM_THREADS and
NUMBA_NUM_THREADS allow; CPU seconds add up those of all threads, and tell more on a busy machine.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._compiled import chi_square
from fewsight.encodings import draw_box, inside
from fewsight.gp import GramStack
from fewsight.learners.mkl import Task, Weighted, learn_l1, learn_l2

from timing import arguments

C = 1_000.0
N_WORDS = 300
GRID = (25, 20, 4)  # columns, rows, scales
REGIONS = 6  # to a side, of which each class has words of its own
TYPICAL = 0.15  # of the words of an image
MOST_MINUTES = {"l2": 6.0, "l1": 10.0}
MOST_GIGABYTES = 6.0

Words = npt.NDArray[np.intp]


def images(n_classes: int, per_class: int, rng: np.random.Generator) -> tuple[Words, npt.NDArray[np.float32]]:
    """Words (n, p) and where they stand (p, 2)."""
    columns, rows, scales = GRID
    x, y = np.meshgrid((np.arange(columns) + 0.5) / columns, (np.arange(rows) + 0.5) / rows)
    places = np.tile(np.stack([x.ravel(), y.ravel()], axis=1), (scales, 1)).astype(np.float32)
    regions = np.ravel_multi_index((REGIONS * places).astype(int).T, (REGIONS, REGIONS))
    frequent = 1.0 / (10.0 + np.arange(N_WORDS))
    preferred = rng.integers(N_WORDS, size=(n_classes, REGIONS**2, 5))
    n = n_classes * per_class
    words = rng.choice(N_WORDS, size=(n, len(places)), p=frequent / frequent.sum())
    own = preferred[np.repeat(np.arange(n_classes), per_class)[:, None], regions, rng.integers(5, size=words.shape)]
    return np.where(rng.random(words.shape) < TYPICAL, own, words), places


def gram(words: Words) -> npt.NDArray[np.float64]:
    """exp(-chi-square / median) of the words in a window."""
    n = len(words)
    counts = np.bincount((words + N_WORDS * np.arange(n)[:, None]).ravel(), minlength=n * N_WORDS).reshape(n, N_WORDS)
    apart = chi_square.distances(scipy.sparse.csr_array(counts / max(words.shape[1], 1)))
    some = apart[: min(n, 500), : min(n, 500)]
    return np.exp(-apart / max(float(np.median(some[np.triu_indices(len(some), 1)])), 1e-9))


def grams(words: Words, places: npt.NDArray[np.float32], count: int, rng: np.random.Generator) -> Iterator[Any]:
    """Of windows drawn at random that hold something."""
    while count:
        here = inside(places, draw_box(rng))
        if here.any():
            count -= 1
            yield gram(words[:, here])


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What the work returns, seconds, and CPU seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - start, time.process_time() - cpu


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--windows", type=int, default=1_000, help="windows that are drawn (1000)")
    options = parser.parse_args()
    n_classes, per_class, count = (10, 10, 40) if options.quick else (101, 15, options.windows)
    rng = np.random.default_rng(0)
    words, places = images(n_classes, per_class, rng)
    stack, *making = timed(lambda: GramStack.of(grams(words, places, count, rng)))
    print(f"{count:,} Gram matrices of {len(words):,} images: {making[0]:.0f} s ({making[1]:.0f} s CPU)", flush=True)
    classes = np.repeat(np.arange(n_classes), per_class)
    tasks = [Task(np.where(classes == label, 1.0, -1.0), C) for label in range(n_classes)]
    records = []
    ways: dict[str, Callable[[], list[Weighted]]] = {
        "l2": lambda: learn_l2(stack, tasks, gap=1e-3),
        "l1": lambda: learn_l1(stack, tasks, gap=1e-2),
    }
    for way, learn in ways.items():
        found, *learning = timed(learn)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6 * 1.024  # gigabytes
        seconds, cpu = making[0] + learning[0], making[1] + learning[1]
        n_kernels = float(np.mean([(one.weights > 0).sum() for one in found]))
        rounds, gap = max(one.n_rounds for one in found), max(one.gap for one in found)
        print(
            f"{way}: {n_classes} classes in {learning[0]:.0f} s ({learning[1]:.0f} s CPU), {rounds} rounds, gap {gap:.2g}, "
            f"{n_kernels:.1f} kernels per class; with the Gram matrices {seconds / 60:.1f} minutes ({cpu / 60:.1f} CPU), at most "
            f"{MOST_MINUTES[way]:g} wanted; {peak:.2f} GB at most, {MOST_GIGABYTES:g} wanted.",
            flush=True,
        )
        records.append(
            {"name": way, "seconds": seconds, "cpu_seconds": cpu, "rounds": rounds, "gap": gap, "gigabytes": peak}
        )
    if options.json is not None:
        options.json.write_text(json.dumps({"records": records}, indent=2) + "\n")


if __name__ == "__main__":
    main()
