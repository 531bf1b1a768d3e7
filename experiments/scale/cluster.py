"""A sparse GP on three worker processes beside one: the same answers, also where a worker is killed, and the time it takes.

Rows are made up: twenty categories, a cloud of points each, 1,500 numbers a row. Workers make their blocks from seeds, and each
may take less memory than all rows do. Both sides have all processors of the machine: one process as many threads as there are,
three workers one thread each. Several times each for the time, of which the median counts, and once with a worker that is killed
while examples are counted.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import dask.array
import numpy as np
from distributed import Client, LocalCluster

from experiments.scale.result_file import checked, parser, write
from fewsight._base.types import Array
from fewsight.kernels import RBF
from fewsight.learners import SparseGPClassifier

CATEGORIES, WIDTH, BLOCK = 20, 1_500, 1_000


def labels_of(n: int) -> Array:
    return np.arange(n) % CATEGORIES


def rows_of(number: int, n: int, seed: int) -> Array:
    """One block of rows."""
    centres = np.random.default_rng(seed).normal(size=(CATEGORIES, WIDTH))
    noise = np.random.default_rng([seed, number]).normal(size=(n, WIDTH))
    return 0.12 * centres[labels_of(n)] + noise


def dask_rows(n: int, seed: int) -> Any:
    """All blocks, made where they are needed."""

    def made(block_info: Any = None) -> Array:
        return rows_of(block_info[None]["chunk-location"][0], BLOCK, seed)

    return dask.array.map_blocks(made, chunks=((BLOCK,) * (n // BLOCK), (WIDTH,)), dtype=np.float64)


class Killer(threading.Thread):
    """Kills the process of one worker after a while."""

    def __init__(self, pid: int, after: float) -> None:
        super().__init__(daemon=True)
        self.pid, self.after, self.at = pid, after, 0.0

    def run(self) -> None:
        time.sleep(self.after)
        os.kill(self.pid, signal.SIGKILL)
        self.at = time.perf_counter()


def timed(work: Callable[[], SparseGPClassifier], repeats: int) -> tuple[SparseGPClassifier, list[float]]:
    """What came out last, and the seconds of each time."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        learned = work()
        seconds.append(time.perf_counter() - start)
    return learned, seconds


def compared(options: Any) -> dict[str, Any]:
    """All three ways, and how far they are apart."""
    n, seed = options.images, options.seed
    how = {"n_inducing": options.points, "noise_variance": 0.1}
    asked = rows_of(n // BLOCK, BLOCK, seed)
    n_bytes = n * WIDTH * asked.itemsize

    def here() -> SparseGPClassifier:
        """With the making of rows, as on the workers."""
        X = np.concatenate([rows_of(number, BLOCK, seed) for number in range(n // BLOCK)])
        return SparseGPClassifier(RBF(scale=40.0), **how).fit(X, labels_of(n))

    def far(client: Client) -> SparseGPClassifier:
        return SparseGPClassifier(RBF(scale=40.0), **how, cluster=client).fit(dask_rows(n, seed), labels_of(n))

    alone, seconds = timed(here, options.repeats)
    local, expected = median(seconds), alone.latent(asked).mean
    right = float((alone.predict(asked) == labels_of(BLOCK)).mean())
    found: dict[str, Any] = {
        "local_seconds": local,
        "local_seconds_of_each": seconds,
        "accuracy": right,
        "gigabytes_of_rows": n_bytes / 2**30,
    }
    limit = int(options.memory * 2**30)
    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=limit
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        client.run(__import__, "fewsight.learners")  # workers have started, as those of a cluster have
        for name in ("undisturbed", "one_killed"):
            killer = Killer(pids[0], 0.4 * found.get("undisturbed_seconds", 0.0)) if name == "one_killed" else None
            if killer is not None:
                killer.start()
            learned, seconds = timed(lambda: far(client), 1 if killer is not None else options.repeats)
            end = time.perf_counter()
            latent = learned.latent(asked).mean
            found |= {
                f"{name}_seconds": median(seconds),
                f"{name}_seconds_of_each": seconds,
                f"{name}_over_local": median(seconds) / local,
                f"{name}_greatest_difference": float(np.abs(latent - expected).max()),
                f"{name}_same_decisions": bool((latent.argmax(axis=1) == expected.argmax(axis=1)).all()),
            }
            if killer is not None:
                found["killed_before_the_end"] = bool(0 < killer.at < end)
    return found | {"gigabytes_of_a_worker": options.memory, "images": n, "points": options.points, "workers": 3}


def main() -> None:
    made = parser(__doc__ or "", "cluster.json")
    made.add_argument("--images", type=int, default=50_000)
    made.add_argument("--points", type=int, default=500)
    made.add_argument("--memory", type=float, default=0.5, help="gigabytes that each worker may take")
    made.add_argument("--repeats", type=int, default=3)
    made.add_argument("--seed", type=int, default=0)
    options = checked(made.parse_args())
    record = compared(options)
    print(record)
    write(options.json, {"seed": options.seed, "categories": CATEGORIES, "width": WIDTH}, [record])


if __name__ == "__main__":
    main()
