"""Is the memory that learning will take known before it begins? Predicted and measured, in a process for each size and cache.

Photographs of Caltech-101, drawn at random over all categories. What is predicted is what the learner says it needs, beside what
the process has before; what is measured is the most that it has had. Each size is learned twice: with a cache that is empty, so
that every image is described, and then, in another process, with the cache that this left: a network that describes images
takes memory, which is not needed where the cache has all features already.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import images_of
from experiments.scale.result_file import checked, parser, peak_gigabytes, write
from fewsight.apps.workbench import learn
from fewsight.apps.workbench.learners import memory_of_learning
from fewsight.channels import make_channel
from fewsight.images import FeatureCache
from fewsight.learners import LEARNERS

CHANNELS = {"histogram_gp": ["spatial_pmk"], "sparse_gp": ["pretrained", "spatial_pmk"]}


def one(data: Path, learner: str, n: int, seed: int, folder: Path) -> dict[str, Any]:
    """Predicted and measured, in this process."""
    images = images_of(data)
    images = images.select(np.sort(np.random.default_rng(seed).permutation(len(images))[:n]))
    cache = FeatureCache(folder)
    warm = cache.n_entries() > 0
    channels = [make_channel(name, cache=cache, n_jobs=1) for name in CHANNELS[learner]]
    n_categories = len(set(images.labels))
    before = peak_gigabytes()
    predicted = before + memory_of_learning(LEARNERS[learner](), images.images, n_categories, channels) / 2**30
    start, wall = time.process_time(), time.perf_counter()
    learn(images, channels, learner=learner)
    measured = peak_gigabytes()
    return {
        "learner": learner,
        "cache": "warm" if warm else "cold",
        "channels": CHANNELS[learner],
        "images": n,
        "categories": n_categories,
        "gigabytes_before": before,
        "gigabytes_predicted": predicted,
        "gigabytes_measured": measured,
        "ratio": predicted / measured,
        "processor_seconds": time.process_time() - start,
        "wall_seconds": time.perf_counter() - wall,
    }


def apart(options: argparse.Namespace, learner: str, n: int, folder: str) -> dict[str, Any]:
    """The same in a process of its own."""
    words = [str(options.data), "--only", learner, "--sizes", str(n), "--seed", str(options.seed), "--cache", folder]
    command = [sys.executable, "-m", "experiments.scale.memory", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    made = parser(__doc__ or "", "memory.json")
    made.add_argument("data", type=Path)
    made.add_argument("--sizes", type=int, nargs="+", default=[1_000, 2_500, 5_000])
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--learners", nargs="+", default=list(CHANNELS), choices=list(CHANNELS))
    made.add_argument("--only", choices=list(CHANNELS), help="one learner, in this process, to standard output")
    made.add_argument("--cache", type=Path, help="with --only: the folder of the cache")
    options = made.parse_args()
    if options.only:
        if options.cache is None:
            made.error("--only needs --cache")
        print(json.dumps(one(options.data, options.only, options.sizes[0], options.seed, options.cache)))
        return
    checked(options)
    records = []
    for learner in options.learners:
        for n in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                for _ in ("cold", "warm"):
                    records.append(apart(options, learner, n, folder))
                    print(records[-1], flush=True)
    write(options.json, {"seed": options.seed}, records)


if __name__ == "__main__":
    main()
