"""Kernels of windows of Caltech-101's images, and of the spatial pyramid on the same words. [Gehler2009, section 5]

SIFT every 10 pixels at radii 4, 8, 12 and 16, one codebook of 300 words of the training images, chi-square, each kernel's scale
the median of the training distances. Layouts: levels 0 to 3 of the pyramid (the histograms of a level side by side), their cells,
and windows drawn at random. The histogram of every cell and window sums to one.

Of test images no kernel is kept: each is added to the sums of all that use it, in single precision, and forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from experiments.gehler2009.measuring import Learned, machines
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight._compiled import chi_square, packed_sums
from fewsight._compiled.chi_square_columns import ChiSquareColumns
from fewsight.channels import Windows
from fewsight.encodings import cell_boxes, draw_box
from fewsight.gp import GramStack
from fewsight.images import FeatureCache, Image, ImageSet, draw_split
from fewsight.learners import GPClassifier

C = 1_000.0
LEVELS = 4
CELLS = tuple(box for level in range(LEVELS) for box in cell_boxes(2**level))
ENDS = [sum(4**each for each in range(level + 1)) for level in range(LEVELS)]  # cells of the levels up to each
LAYOUTS = ("levels", "cells", "windows")
TEST_AT_A_TIME = 2_000  # test images: a kernel of theirs with 1,515 others takes 12 megabytes
GRID: dict[str, Any] = {
    "step": 10,
    "patch": 8,
    "scales": (1.0, 2.0, 3.0, 4.0),
    "n_words": 300,
    "longest_side": 300,
    "n_descriptors": 50_000,
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


Rows = Callable[[int], Any]  # the rows of images in the cell or window of a number


@dataclass(frozen=True)
class Kernels:
    """Kernels of all layouts between the training images, and what those with test images are made of."""

    grams: dict[str, GramStack]  # of "levels", "cells" and "windows"
    scales: dict[str, list[float]]  # of their distances
    train: Rows
    test: Rows
    n_boxes: int
    n_test: int

    def each(self, places: slice) -> Iterator[tuple[str, int, Array]]:
        """Layout, number and kernel, in single precision, between some of the test images and all training images."""
        for layout, number, apart in _by_layout(
            ChiSquareColumns.of(self.train(at), np.float32).distances(self.test(at)[places])
            for at in track(range(self.n_boxes), "test images", self.n_boxes)
        ):
            K = (apart * (-1.0 / self.scales[layout][number])).astype(np.float32)
            yield layout, number, np.exp(K, out=K)


def kernels(draw: Draw, n_windows: int, work: Path, seed: int) -> Kernels:
    """Chi-square of each cell and window, once; the distances of a level are those of its cells, added."""
    rng = np.random.default_rng([seed, 2])
    boxes = (*CELLS, *(draw_box(rng) for _ in range(n_windows)))
    channel = Windows(**GRID, boxes=boxes, random_state=seed, cache=FeatureCache(work / "features"), n_jobs=1)
    with silent():
        channel.fit(draw.train)
        train = channel.window_rows(draw.train).__getitem__
    medians = channel.distances_.tolist()
    scales = {"levels": [], "cells": medians[: len(CELLS)], "windows": medians[len(CELLS) :]}
    stacks = {layout: GramStack(len(draw.train)) for layout in LAYOUTS}
    numbers = track(range(len(boxes)), "kernels", len(boxes))
    for layout, number, apart in _by_layout(chi_square.distances(train(at)) for at in numbers):
        if layout == "levels":
            scales["levels"].append(_median(apart))
        stacks[layout].append(np.exp(-apart / scales[layout][number]))

    @cache
    def of_test() -> Rows:
        """Words of test images are found when they are asked for, after all that is learned."""
        with silent():
            return channel.window_rows(draw.test).__getitem__

    return Kernels(stacks, scales, train, lambda at: of_test()(at), len(boxes), len(draw.test))


def _by_layout(distances: Iterator[Array]) -> Iterator[tuple[str, int, Array]]:
    """Distances in each cell and window, and of each level once its cells are known: layout, number, distances."""
    of_level: list[Array] = []
    for number, apart in enumerate(distances):
        if number >= len(CELLS):
            yield "windows", number - len(CELLS), apart
            continue
        yield "cells", number, apart
        of_level.append(apart if not of_level else of_level.pop() + apart)
        if number + 1 in ENDS:
            yield "levels", ENDS.index(number + 1), of_level.pop()


def _median(apart: Array) -> float:
    median = float(np.median(apart[np.triu_indices(len(apart), 1)]))
    return median if median > 0 else 1.0


@dataclass(frozen=True)
class Way:
    """A row of the table: what it is, which kernels it uses, and how it decides.

    `weights` (k,) are of one sum of kernels for all classes; with `learned`, each class has its own, and `decide` gets margins.
    """

    about: dict[str, Any]
    layout: str
    weights: Array
    decide: Callable[[Array], dict[str, Array]]
    learned: Learned | None = None


def machines_way(found: Kernels, layout: str, weights: Array, labels: Array, about: dict[str, Any]) -> Way:
    """Support vector machines with given weights; `cpu_seconds` of `about` grow by those that learning takes."""
    start = process_time()
    decide = machines(found.grams[layout].weighted_sum(weights), labels, C)
    return Way(_timed(about, start), layout, weights, lambda K_test: {"label": decide(K_test)})


def gp_way(found: Kernels, layout: str, weights: Array, labels: Array, about: dict[str, Any]) -> Way:
    """A Gaussian process with given weights; `cpu_seconds` as above."""
    start = process_time()
    learner = GPClassifier("precomputed", prototypes=False).fit(found.grams[layout].weighted_sum(weights), labels)

    def decide(K_test: Array) -> dict[str, Array]:
        probabilities = learner.predict_proba(K_test)
        return {"label": learner.classes_[probabilities.argmax(axis=1)], "probabilities": probabilities}

    return Way(_timed(about, start), layout, weights, decide)


def _timed(about: dict[str, Any], start: float) -> dict[str, Any]:
    return {**about, "cpu_seconds": about.get("cpu_seconds", 0.0) + process_time() - start}


def learned_way(layout: str, learned: Learned, about: dict[str, Any]) -> Way:
    """Support vector machines, each with weights of its own."""
    return Way(about, layout, learned.weights, lambda margins: {"label": learned.decide(margins)}, learned)


def answers(found: Kernels, ways: Sequence[Way]) -> list[dict[str, Array]]:
    """What each way says about the test images, all ways with one pass over their kernels."""
    parts = []
    for first in range(0, found.n_test, TEST_AT_A_TIME):
        places = slice(first, min(first + TEST_AT_A_TIME, found.n_test))
        parts.append(_answers_of_some(found, ways, places))
    return [
        {name: np.concatenate([part[name] for part in some]) for name in some[0]} for some in zip(*parts, strict=True)
    ]


def _answers_of_some(found: Kernels, ways: Sequence[Way], places: slice) -> list[dict[str, Array]]:
    m, n = places.stop - places.start, found.grams["levels"].side
    sums = {layout: _Sums([way for way in ways if way.layout == layout], (m, n)) for layout in LAYOUTS}
    for layout, number, K in found.each(places):
        sums[layout].add(number, K)
    return [way.decide(sums[way.layout].of(way)) for way in ways]


class _Sums:
    """Weighted sums of kernels (m, n) that come one after the other, and margins where each class has weights of its own."""

    def __init__(self, ways: Sequence[Way], shape: tuple[int, int]) -> None:
        self._shape = shape
        self._totals = {
            way.weights.tobytes(): (way.weights, np.zeros((1, shape[0] * shape[1]))) for way in ways if not way.learned
        }
        self._margins = {
            way.weights.tobytes(): (way.learned, np.zeros((shape[0], len(way.learned.classes))))
            for way in ways
            if way.learned
        }
        self._waiting: list[tuple[int, Array]] = []

    def add(self, number: int, K: Any) -> None:
        for learned, margins in self._margins.values():
            learned.add_margins(margins, number, K)
        self._waiting.append((number, K))
        if len(self._waiting) == packed_sums.EIGHT:
            self._flush()

    def of(self, way: Way) -> Array:
        """What a way decides from."""
        key = way.weights.tobytes()
        if way.learned:
            return self._margins[key][1] + way.learned.intercepts
        self._flush()
        return self._totals[key][1].reshape(self._shape)

    def _flush(self) -> None:
        """Eight kernels at a time: the totals are read and written once for all of them."""
        if not self._waiting:
            return
        numbers, matrices = zip(*self._waiting, strict=True)
        stack = np.stack([K.ravel() for K in matrices])
        for weights, total in self._totals.values():
            packed_sums.add_all(total, stack, weights[None, list(numbers)])
        self._waiting.clear()
