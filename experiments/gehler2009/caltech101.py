"""Where to look: windows of Caltech-101's images against the spatial pyramid. [Gehler2009, section 5, Tables 4 and 5, Fig. 4]

SIFT every 10 pixels at radii 4, 8, 12 and 16, one codebook of 300 words of the training images, chi-square, each kernel's scale
the median of the training distances, C = 1000. Layouts: levels 0 to 3 of the pyramid (the histograms of a level side by side),
their cells, and windows drawn at random. The histogram of every cell and window sums to one. Photographs that stand in the data
twice (crops of Faces in Faces_easy, mirrored Leopards) are never on both sides: their twins are taken out of the test.

    python -m experiments.gehler2009.caltech101 DATA --work FOLDER --per-class 15 --windows 1000 --seeds 0-4
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.command import base_arguments, images_of, run, write_figure
from experiments.gehler2009.measuring import gp_error, learned_error, machine_error, mean_weights, sums
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight._compiled import chi_square
from fewsight.channels import Windows
from fewsight.encodings import cell_boxes, draw_box
from fewsight.evaluation.report import kernel_count_figure
from fewsight.gp import BlockStack, GramList, GramStack
from fewsight.images import FeatureCache, Image, ImageSet, draw_split

C = 1_000.0
LEVELS = 4
N_CELLS = [4**level for level in range(LEVELS)]
GRID: dict[str, Any] = {
    "step": 10,
    "patch": 8,
    "scales": (1.0, 2.0, 3.0, 4.0),
    "n_words": 300,
    "longest_side": 300,
    "n_descriptors": 50_000,
}
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)  # windows of the curve
# Mean error of the paper's tables, in percent: (per class, layout, combine) -> value.
REPORTED = {
    (15, "levels", "single"): 45.9,
    (15, "levels", "pyramid"): 45.6,
    (15, "cells", "l2"): 45.0,
    (15, "windows", "average"): 41.6,
    (15, "windows", "l1"): 44.6,
    (15, "windows", "l2"): 41.4,
    (30, "levels", "pyramid"): 36.9,
    (30, "cells", "l2"): 36.6,
    (30, "windows", "average"): 34.3,
    (30, "windows", "l1"): 36.2,
    (30, "windows", "l2"): 34.1,
}


@dataclass(frozen=True)
class Draw:
    """Training and test images of a split, without twins across."""

    train: list[Image]
    test: list[Image]
    labels: Array
    test_labels: Array


def draw(images: ImageSet, per_class: int, most_test: int, seed: int) -> Draw:
    """`per_class` images of each class to train, at most `most_test` others to test."""
    split = draw_split(images.labels, per_class=per_class, test_per_class=most_test, seed=seed)
    used = {_photograph(images, place) for place in split.train}
    test = np.array([place for place in split.test if _photograph(images, place) not in used])
    chosen = [[images.images[place] for place in part] for part in (split.train, test)]
    named = [np.array([images.labels[place] for place in part]) for part in (split.train, test)]
    return Draw(chosen[0], chosen[1], named[0], named[1])


def _photograph(images: ImageSet, place: int) -> tuple[str, int]:
    """What was photographed: the same for an image, its crop in another class and its mirror image."""
    label, name = str(images.labels[place]), Path(images.images[place].name).stem
    number = int(re.sub(r"\D", "", name) or place)
    if label == "Leopards":
        return label, (number - 1) % 100
    return label.removesuffix("_easy"), number


@dataclass(frozen=True)
class Kernels:
    """Kernels of all layouts, for the training images and for test x training."""

    levels: tuple[GramList, list[Array]]
    cells: tuple[GramStack, BlockStack]
    windows: tuple[GramStack, BlockStack]


def kernels(draw: Draw, options: argparse.Namespace, seed: int) -> Kernels:
    """Chi-square of each cell and window, once; the distances of a level are those of its cells, added."""
    rng = np.random.default_rng([seed, 2])
    cells = [box for level in range(LEVELS) for box in cell_boxes(2**level)]
    boxes = (*cells, *(draw_box(rng) for _ in range(options.windows)))
    cache = FeatureCache(options.work / "features")
    channel = Windows(**GRID, boxes=boxes, random_state=seed, cache=cache, n_jobs=1)
    with silent():
        channel.fit(draw.train)
        rows = [_matrix(channel.encode(part)) for part in (draw.train, draw.test)]
    stacks = {name: (GramStack(len(draw.train)), BlockStack((len(draw.test), len(draw.train)))) for name in "cw"}
    levels: tuple[list[Array], list[Array]] = ([], [])
    for number in track(range(len(boxes)), "kernels", len(boxes)):
        at = slice(number * channel.n_words, (number + 1) * channel.n_words)
        train, test = (part[:, at].tocsr() for part in rows)
        apart, apart_test = chi_square.distances(train), chi_square.distances(test, train)
        if number < len(cells):
            _add(levels, number, apart, apart_test)
        scale = _median(apart)
        stack, block = stacks["c" if number < len(cells) else "w"]
        stack.append(np.exp(-apart / scale))
        block.append(np.exp(-apart_test / scale))
    scales = [_median(apart) for apart in levels[0]]
    of_levels = [[np.exp(-apart / scale) for apart, scale in zip(part, scales, strict=True)] for part in levels]
    return Kernels((GramList(of_levels[0]), of_levels[1]), stacks["c"], stacks["w"])


def _matrix(encoded: Any) -> Any:
    """Rows whose columns are quick to take."""
    return encoded.matrix.tocsc()


def _add(levels: tuple[list[Array], list[Array]], number: int, apart: Array, apart_test: Array) -> None:
    level = int(np.searchsorted(np.cumsum(N_CELLS), number, side="right"))
    for part, more in zip(levels, (apart, apart_test), strict=True):
        if len(part) == level:
            part.append(np.zeros_like(more))
        part[level] += more


def _median(apart: Array) -> float:
    median = float(np.median(apart[np.triu_indices(len(apart), 1)]))
    return median if median > 0 else 1.0


def cell(images: ImageSet, options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """One split: a value for each row of the table."""
    drawn = draw(images, options.per_class, options.most_test, seed)
    found = kernels(drawn, options, seed)
    labels, test_labels = drawn.labels, drawn.test_labels
    rows: list[dict[str, Any]] = []

    def add(learner: str, layout: str, combine: str, level: int | None, values: dict[str, Any]) -> None:
        rows.append({"learner": learner, "layout": layout, "combine": combine, "level": level, **values})

    def fixed(layout: str, combine: str, level: int | None, pair: tuple[Array, Array], n_kernels: int) -> None:
        error = machine_error(*pair, labels, test_labels, C)
        add("svm", layout, combine, level, {"error": error, "n_kernels": n_kernels})
        if combine != "single" and level != 1:  # those that can be best
            add("gp", layout, combine, level, {**gp_error(*pair, labels, test_labels), "n_kernels": n_kernels})

    for layout, (grams, blocks), combine, level, weights in _fixed_ways(found, options.windows):
        fixed(layout, combine, level, sums(grams, blocks, weights), int((weights > 0).sum()))
    for layout, (grams, blocks) in (("cells", found.cells), ("windows", found.windows)):
        for way in options.ways:
            values, weights = learned_error(way, grams, blocks, labels, test_labels, C)
            level = LEVELS - 1 if layout == "cells" else None
            add("svm", layout, way, level, values)
            pair = sums(grams, blocks, mean_weights(weights))
            add("gp", layout, way, level, {**gp_error(*pair, labels, test_labels), "n_kernels": values["n_kernels"]})
    return {"rows": rows, "curve": _curve(found, labels, test_labels, options.windows), "n_test": len(test_labels)}


def _fixed_ways(found: Kernels, n_windows: int) -> Iterator[tuple[str, Any, str, int | None, Array]]:
    """Layout, its matrices, how they are combined, the finest level, and the weights."""
    ends = np.cumsum(N_CELLS)
    for level in range(LEVELS):
        one = np.eye(LEVELS)[level]
        yield "levels", found.levels, "single", level, one
        if level:
            upto = np.arange(LEVELS) <= level
            halves = np.where(upto, 2.0 ** (np.arange(LEVELS) - level), 0.0)
            yield "levels", found.levels, "average", level, upto / upto.sum()
            yield "levels", found.levels, "pyramid", level, halves / halves.sum()
            cells = np.arange(ends[-1]) < ends[level]
            yield "cells", found.cells, "average", level, cells / cells.sum()
    yield "windows", found.windows, "average", None, np.full(n_windows, 1.0 / n_windows)


def _curve(found: Kernels, labels: Array, test_labels: Array, n_windows: int) -> dict[str, float]:
    """Error of the average of the first windows, by their number. [Fig. 4]"""
    grams, blocks = found.windows
    errors = {}
    for count in (count for count in COUNTS if count < n_windows):
        weights = (np.arange(n_windows) < count) / count
        errors[str(count)] = machine_error(*sums(grams, blocks, weights), labels, test_labels, C)
    return errors


def work(options: argparse.Namespace) -> None:
    """All splits, the file of results and the figure."""
    images = images_of(options.data)
    cells = []
    for seed in track(options.seeds, "splits", len(options.seeds)):
        settings = {
            "seed": seed,
            "per_class": options.per_class,
            "most_test": options.most_test,
            "windows": options.windows,
            "ways": list(options.ways),
            "C": C,
            "grid": {**GRID, "scales": list(GRID["scales"])},
        }
        cells.append(kept(options.work, "caltech101", settings, lambda seed=seed: cell(images, options, seed)))
        shown = (
            f"{row['learner']} {row['layout']} {row['combine']} {row['level']}: {row['error']:.1f}"
            for row in cells[-1]["rows"]
        )
        print(seed, *shown, sep="\n  ", flush=True)
    protocol = {
        "C": C,
        "features": {**GRID, "scales": list(GRID["scales"])},
        "windows": options.windows,
        "most_test": options.most_test,
        "n_test": [one["n_test"] for one in cells],
    }
    write_results(options, _records(cells, options), protocol=protocol)
    write_figure(plot(cells, options), options.figure)


def _records(cells: list[dict[str, Any]], options: argparse.Namespace) -> list[dict[str, Any]]:
    head = {"channels": "windows", "words": GRID["n_words"], "per_class": options.per_class}
    rows = []
    for number, row in enumerate(cells[0]["rows"]):
        about = {key: row[key] for key in ("learner", "layout", "combine", "level")}
        for metric in (key for key in row if key not in about):
            rows.append(record({**head, **about}, metric, [one["rows"][number][metric] for one in cells]))
    about = {"learner": "svm", "layout": "windows", "combine": "average", "level": None}
    for count in cells[0]["curve"]:
        values = [one["curve"][count] for one in cells]
        rows.append(record({**head, **about, "n_kernels": int(count)}, "error", values))
    for (per_class, layout, combine), value in REPORTED.items():
        if per_class == options.per_class:
            about = {"learner": "svm", "layout": layout, "combine": combine, "reported": True}
            rows.append({**head, **about, "metric": "error", "mean": value})
    return rows


def plot(cells: list[dict[str, Any]], options: argparse.Namespace) -> Figure:
    """Error against the number of windows, with the best pyramid as a line. [Fig. 4]"""
    means = [float(np.mean([one["rows"][i]["error"] for one in cells])) for i in range(len(cells[0]["rows"]))]
    svm = [{**row, "error": mean} for row, mean in zip(cells[0]["rows"], means, strict=True) if row["learner"] == "svm"]
    ways = {row["combine"]: row for row in svm if row["layout"] == "windows"}
    curve = {int(count): float(np.mean([one["curve"][count] for one in cells])) for count in cells[0]["curve"]}
    curve[options.windows] = ways["average"]["error"]
    learned = {way: (row["n_kernels"], row["error"]) for way, row in ways.items() if way != "average"}
    best = min(row["error"] for row in svm if row["layout"] == "levels")
    return kernel_count_figure(
        curve, learned, {"best pyramid": best}, f"Caltech-101, {options.per_class} per class, windows"
    )


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "caltech101",
        __doc__,
        folder="the folder of Caltech-101's category folders, or the one that holds it as caltech101",
        seeds="0-4",
        of="splits",
        paper="gehler2009",
    )
    made.add_argument("--per-class", type=int, default=15, help="training images of each class (15)")
    made.add_argument("--most-test", type=int, default=50, help="test images of each class, at most (50)")
    made.add_argument("--windows", type=int, default=1_000, help="windows that are drawn (1000)")
    made.add_argument("--ways", type=lambda text: text.split(","), default=["l1", "l2"], help="of learning (l1,l2)")
    made.add_argument("--json", type=Path, default=Path("experiments/results/gehler2009/caltech101_15.json"))
    made.add_argument("--figure", type=Path, default=Path("docs/images/gehler2009_caltech101_15.png"))
    return made


if __name__ == "__main__":
    run(parser(), work)
