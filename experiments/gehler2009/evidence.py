"""Windows chosen by evidence against windows weighted by multiple kernel learning, on the same candidates.

Windows of Caltech-101 as in `caltech101`; a Gaussian process grows its kernels by the slope of the evidence at weight zero
(`fewsight.gp.grow_weights`), against l1, l2 and the plain average. A layout as one channel, with the mean weights that l1 or l2
learned, stands against the levels of the spatial pyramid on the same words, both with the Gaussian process.

    python -m experiments.gehler2009.evidence DATA --work FOLDER --sizes 3,15 --windows 100 --seeds 0-4
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, images_of, numbers, run
from experiments.gehler2009.layouts import (
    GRID,
    LEVELS,
    C,
    Kernels,
    Way,
    answers,
    draw,
    gp_way,
    kernels,
    learned_way,
    machines_way,
)
from experiments.gehler2009.measuring import learn_weights, mean_weights, scored
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import track
from fewsight._base.types import Array
from fewsight.gp import grow_weights
from fewsight.images import ImageSet


def cell(images: ImageSet, options: argparse.Namespace, seed: int, per_class: int) -> dict[str, Any]:
    """One split: error, log loss, kernels and seconds of each way."""
    drawn = draw(images, per_class, options.most_test, seed)
    found = kernels(drawn, options.windows, options.work, seed)
    all_ways = list(ways(found, drawn.labels, options))
    rows = {}
    for way, given in zip(all_ways, answers(found, all_ways), strict=True):
        about = dict(way.about)
        name = about.pop("name")
        rows[name] = {**scored(given, drawn.labels, drawn.test_labels), **about}
    return rows


def ways(found: Kernels, labels: Array, options: argparse.Namespace) -> Iterator[Way]:
    """All of them, learned one after the other, with the seconds that takes once the Gram matrices are there."""
    grams, n = found.grams["windows"], options.windows

    def timed(name: str, seconds: float, n_kernels: float, learn: Callable[..., Way], *arguments: Any) -> Way:
        start = perf_counter()
        way = learn(*arguments, {})
        return replace(
            way, about={"name": name, "n_kernels": n_kernels, "seconds_fit": seconds + perf_counter() - start}
        )

    for level in (LEVELS - 2, LEVELS - 1):
        upto = (np.arange(LEVELS) <= level).astype(float)
        for name, shares in (("average", upto), ("pyramid", upto * 2.0 ** (np.arange(LEVELS) - level))):
            shares = shares / shares.sum()
            yield timed(f"gp levels{level} {name}", 0.0, level + 1, gp_way, found, "levels", shares, labels)
    even = np.full(n, 1.0 / n)
    yield timed("gp windows average", 0.0, n, gp_way, found, "windows", even, labels)
    yield timed("svm windows average", 0.0, n, machines_way, found, "windows", even, labels)
    for combine in ("l1", "l2"):
        start = perf_counter()
        learned = learn_weights(combine, grams, labels, C)
        seconds = perf_counter() - start
        made = timed(f"svm windows {combine}", seconds, learned.n_kernels, learned_way, "windows", learned)
        yield replace(made, about={**made.about, "gap": learned.gap})
        weights = mean_weights(learned.weights)
        used = float((weights > 0).sum())
        yield timed(f"gp windows {combine}", seconds, used, gp_way, found, "windows", weights, labels)
    start = perf_counter()
    targets = np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)
    grown = grow_weights(grams, targets, most=options.most_kernels)
    seconds = perf_counter() - start
    print(f"evidence: {len(grown.chosen)} kernels after {grown.n_rounds} rounds and {seconds:.0f} s", flush=True)
    weights = np.zeros(n)
    weights[grown.chosen] = grown.weights
    yield timed("gp windows evidence", seconds, len(grown.chosen), gp_way, found, "windows", weights, labels)


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
            "version": 3,
        }
        one = kept(options.work, "evidence", settings, lambda seed=seed, size=size: cell(images, options, seed, size))  # type: ignore[misc]
        found.setdefault(size, []).append(one)
        print(size, seed, {name: round(row["error"], 1) for name, row in one.items()}, flush=True)
    records = []
    for size, cells in found.items():
        for name, first in cells[0].items():
            learner, layout, combine = name.split()
            level = int(layout[-1]) if layout.startswith("levels") else None
            head = {
                "channels": "windows",
                "learner": learner,
                "combine": combine,
                "layout": layout.rstrip("0123456789"),
            }
            head |= {"level": level, "per_class": size, "words": GRID["n_words"]}
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
