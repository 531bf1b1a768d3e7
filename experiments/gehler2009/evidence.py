"""Windows chosen by evidence against windows weighted by multiple kernel learning, on the same candidates.

Windows of Caltech-101 as in `caltech101`; a Gaussian process grows its kernels by the slope of the evidence at weight zero
(`fewsight.gp.grow_weights`), against l1, l2 and the plain average. A layout as one channel, with the mean weights that l1 or l2
learned, stands against the levels of the spatial pyramid on the same words, both with the Gaussian process.

    python -m experiments.gehler2009.evidence DATA --work FOLDER --sizes 3,15 --windows 100 --seeds 0-4
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, images_of, numbers, run
from experiments.gehler2009.caltech101 import GRID, LEVELS, C, draw, kernels
from experiments.gehler2009.measuring import gp_error, learned_error, machine_error, mean_weights, sums
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import track
from fewsight.gp import grow_weights
from fewsight.images import ImageSet


def cell(images: ImageSet, options: argparse.Namespace, seed: int, per_class: int) -> dict[str, Any]:
    """One split: error, log loss, kernels and seconds of each way."""
    drawn = draw(images, per_class, options.most_test, seed)
    found = kernels(drawn, options, seed)
    labels, test_labels = drawn.labels, drawn.test_labels
    all_blocks = found.blocks()
    grams, blocks = found.grams["windows"], all_blocks["windows"]
    n = options.windows
    rows: dict[str, Any] = {}

    def gp(name: str, pair: Any, n_kernels: float, seconds: float) -> None:
        start = perf_counter()
        values = gp_error(*pair, labels, test_labels)
        rows[name] = {**values, "n_kernels": n_kernels, "seconds_fit": seconds + perf_counter() - start}

    gp("gp average", sums(grams, blocks, np.full(n, 1.0 / n)), n, 0.0)
    halves = 2.0 ** (np.arange(LEVELS) - LEVELS + 1)
    for name, shares in (("gp levels average", np.ones(LEVELS)), ("gp levels pyramid", halves)):
        gp(name, sums(found.grams["levels"], all_blocks["levels"], shares / shares.sum()), LEVELS, 0.0)
    start = perf_counter()
    targets = np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)
    grown = grow_weights(grams, targets, most=options.most_kernels)
    seconds = perf_counter() - start
    weights = np.zeros(n)
    weights[grown.chosen] = grown.weights
    gp("gp evidence", sums(grams, blocks, weights), len(grown.chosen), seconds)
    start = perf_counter()
    error = machine_error(*sums(grams, blocks, np.full(n, 1.0 / n)), labels, test_labels, C)
    rows["svm average"] = {"error": error, "n_kernels": n, "seconds_fit": perf_counter() - start}
    for way in ("l1", "l2"):
        start = perf_counter()
        values, of_classes = learned_error(way, grams, blocks, labels, test_labels, C)
        seconds = perf_counter() - start
        rows[f"svm {way}"] = {**values, "seconds_fit": seconds}
        gp(f"gp {way}", sums(grams, blocks, mean_weights(of_classes)), values["n_kernels"], seconds)
    return rows


def work(options: argparse.Namespace) -> None:
    """All splits and the file of results."""
    images = images_of(options.data)
    found: dict[int, list[dict[str, Any]]] = {}
    todo = [(size, seed) for size in options.sizes for seed in options.seeds]
    for size, seed in track(todo, "splits", len(todo)):
        settings = {
            "seed": seed,
            "per_class": size,
            "most_test": options.most_test,
            "windows": options.windows,
            "most_kernels": options.most_kernels,
            "grid": {**GRID, "scales": list(GRID["scales"])},
            "version": 2,
        }
        one = kept(options.work, "evidence", settings, lambda seed=seed, size=size: cell(images, options, seed, size))  # type: ignore[misc]
        found.setdefault(size, []).append(one)
        print(size, seed, {name: round(row["error"], 1) for name, row in one.items()}, flush=True)
    records = []
    for size, cells in found.items():
        for name, first in cells[0].items():
            learner, _, way = name.partition(" ")
            layout = "levels" if "levels" in way else "windows"
            head = {"channels": "windows", "learner": learner, "combine": way.split()[-1], "layout": layout}
            head |= {"per_class": size, "words": GRID["n_words"]}
            records += [record(head, metric, [one[name][metric] for one in cells]) for metric in first]
    write_results(options, records, protocol={"windows": options.windows, "most_test": options.most_test, "C": C})


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "evidence",
        __doc__,
        folder="the folder of Caltech-101's category folders, or the one that holds it as caltech101",
        seeds="0-4",
        of="splits",
        paper="gehler2009",
    )
    made.add_argument("--sizes", type=numbers, default=(3, 15), help="training images of each class (3,15)")
    made.add_argument("--most-test", type=int, default=15, help="test images of each class, at most (15)")
    made.add_argument("--windows", type=int, default=100, help="windows that are drawn (100)")
    made.add_argument("--most-kernels", type=int, default=60, help="that the evidence may choose (60)")
    made.add_argument("--json", type=Path, default=Path("experiments/results/gehler2009/evidence.json"))
    return made


if __name__ == "__main__":
    run(parser(), work)
