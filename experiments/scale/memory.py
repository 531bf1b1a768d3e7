"""Is the memory that learning will take known before it begins? Predicted and measured, in a process for each size.

Photographs of Caltech-101, drawn at random over all categories. What is predicted is what the learner says it needs, beside what
the process has before; what is measured is the most that it has had. Every image is described, with a cache that is empty at
first: a network that describes images takes memory, which is not needed where a cache has all features already.
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
from fewsight.channels import make_channel
from fewsight.images import FeatureCache
from fewsight.learners import LEARNERS

CHANNELS = {"histogram_gp": ["spatial_pmk"], "sparse_gp": ["pretrained", "spatial_pmk"]}


def one(data: Path, learner: str, n: int, seed: int) -> dict[str, Any]:
    """Predicted and measured, in this process."""
    images = images_of(data)
    images = images.select(np.sort(np.random.default_rng(seed).permutation(len(images))[:n]))
    with tempfile.TemporaryDirectory() as folder:
        cache = FeatureCache(folder)
        channels = [make_channel(name, cache=cache, n_jobs=1) for name in CHANNELS[learner]]
        n_categories = len(set(images.labels))
        before = peak_gigabytes()
        predicted = before + LEARNERS[learner]().memory_needed(n, n_categories, channels) / 2**30
        start, wall = time.process_time(), time.perf_counter()
        learn(images, channels, learner=learner)
        measured = peak_gigabytes()
    return {
        "learner": learner,
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


def apart(options: argparse.Namespace, learner: str, n: int) -> dict[str, Any]:
    """The same in a process of its own."""
    words = [str(options.data), "--only", learner, "--sizes", str(n), "--seed", str(options.seed)]
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
    options = made.parse_args()
    if options.only:
        print(json.dumps(one(options.data, options.only, options.sizes[0], options.seed)))
        return
    checked(options)
    records = []
    for learner in options.learners:
        for n in options.sizes:
            records.append(apart(options, learner, n))
            print(records[-1], flush=True)
    write(options.json, {"seed": options.seed}, records)


if __name__ == "__main__":
    main()
