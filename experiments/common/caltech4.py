"""Caltech-4: which images may be asked about and which are tested on, and Gram matrices of both, kept in a work folder.

A draw halves every category: one half is the pool, the other is tested on and never asked about. Rear cars are frames of films,
with many near-duplicates: they are halved by blocks of 20 in the order of file names or, as that order is not the films', by sets
of twins (see `twins`). With `tested` "rest" nothing is halved: every image may be asked about, and all that have no label are
tested on, as in the paper, whose Table 4 counts 3,188 - 120 images. The channel is fitted on the images of the pool alone,
without labels. Eight runs, each with first labels of its own, share a draw: run 0-7 the first, 8-15 the second, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from experiments.common.twins import twin_sets
from fewsight._base.archive import pack, read_archive, write_archive
from fewsight._base.errors import ArchiveError, InvalidInput
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.evaluation.provenance import settings_of
from fewsight.images import ImageSet, images_in
from fewsight.images.hashing import hash_of

CARS = "cars_rear"
FOLDERS = {"airplanes": "airplanes", CARS: "caltech4_cars_rear", "faces": "Faces", "motorbikes": "Motorbikes"}
BLOCK = 20  # neighbouring frames that stay on one side
RUNS_PER_DRAW = 8


@dataclass(frozen=True)
class Drawn:
    """One draw: the Gram matrix of all images that take part, their labels, and which are tested on."""

    K: Array  # (m, m), float32
    labels: Any  # (m,)
    test: Indices  # empty where the images without a label are tested on


@dataclass(frozen=True)
class Caltech4:
    """The draws of Caltech-4 for one channel, on disk or to be made."""

    images: ImageSet
    channel: Channel
    work: Path
    block: int = BLOCK
    most: int | None = None  # images of a category that take part; None for all
    cars: str = "blocks"  # how rear cars are halved: by blocks of file names, or by sets of twins
    tested: str = "half"  # on a half that is never asked about, or on the rest: all that has no label

    def make(self, draws: Sequence[int]) -> None:
        """Compute what is missing: first all local features, then draw by draw."""
        missing = [draw for draw in dict.fromkeys(draws) if not self.path(draw).exists()]
        if missing:
            failures = self.channel.prepare(self.images.images)
            if failures:
                raise failures[0]
        for draw in track(missing, f"Gram matrices of {self.channel.name}", len(missing)):
            with silent():
                self._make(draw)

    def load(self, draw: int) -> Drawn:
        """A draw; a damaged file is made again."""
        try:
            arrays = read_archive(self.path(draw)).arrays
        except (ArchiveError, FileNotFoundError):
            self._make(draw)
            arrays = read_archive(self.path(draw)).arrays
        return Drawn(arrays["K"], arrays["labels"], arrays["test"])

    def path(self, draw: int) -> Path:
        """The file of a draw."""
        return self.work / "caltech4" / f"{self.channel.name}-{self.digest[:12]}" / f"draw{draw}.npz"

    @property
    def settings(self) -> dict[str, Any]:
        """Of the channel; the number of a draw is also its seed."""
        return {**settings_of(self.channel), "random_state": "draw"}

    @cached_property
    def digest(self) -> str:
        """Of the channel's settings, the images and how they are drawn."""
        pairs = zip(self.images.images, self.images.labels, strict=True)
        names = [f"{label}/{Path(image.name).name}" for image, label in pairs]
        drawn = {"channel": self.settings, "names": names, "block": self.block, "most": self.most}
        if self.tested == "rest":
            return hash_of(pack({**drawn, "tested": self.tested}))
        return hash_of(pack(drawn if self.cars == "blocks" else {**drawn, "cars": self.cars}))

    def split(self, draw: int) -> tuple[Indices, Indices]:
        """Positions of the pool and of the test images."""
        rng = np.random.default_rng(draw)
        labels = np.array(self.images.labels)
        members = {label: np.flatnonzero(labels == label) for label in self.images.classes}
        if self.tested == "rest":
            chosen = [rng.permutation(places)[: self.most] for places in members.values()]
            return np.sort(np.concatenate(chosen)), np.zeros(0, dtype=np.intp)
        halves = [halved(self._units(label, members[label]), self.most, rng) for label in members]
        pool, test = (np.sort(np.concatenate(side)) for side in zip(*halves, strict=True))
        return pool, test

    def _units(self, label: str, members: Indices) -> list[Indices]:
        """What stays together."""
        if label == CARS and self.cars == "twins":
            return self._twins
        return in_blocks(members, self.block if label == CARS else 1)

    @cached_property
    def _twins(self) -> list[Indices]:
        return twin_sets(self.images.images, np.flatnonzero(np.array(self.images.labels) == CARS))

    def _make(self, draw: int) -> None:
        pool, test = self.split(draw)
        channel = clone(self.channel).set_params(random_state=draw, cache=self.channel.cache)
        channel.fit([self.images.images[i] for i in pool])
        members = np.concatenate([pool, test])
        K = channel.gram(channel.encode([self.images.images[i] for i in members])).astype(np.float32)
        labels = np.array([self.images.labels[i] for i in members])
        arrays = {"K": K, "labels": labels, "test": np.arange(len(pool), len(members))}
        self.path(draw).parent.mkdir(parents=True, exist_ok=True)
        write_archive(self.path(draw), State({"channel": self.settings, "draw": draw}, arrays))


def in_blocks(members: Indices, block: int) -> list[Indices]:
    """Neighbours together."""
    return [members[start : start + block] for start in range(0, len(members), block)]


def halved(units: list[Indices], most: int | None, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """About half of all members and the rest, without tearing a unit; of each half at most half of `most`."""
    if len(units) < 2:
        raise InvalidInput(f"Caltech4: a category must have at least two blocks of images, got {len(units)}.")
    order = rng.permutation(len(units))
    ends = np.cumsum([len(units[i]) for i in order])
    n_first = 1 + int(np.argmin(np.abs(2 * ends[:-1] - ends[-1])))
    sides = order[:n_first], order[n_first:]
    first, second = (np.concatenate([units[i] for i in side])[: None if most is None else most // 2] for side in sides)
    return first, second


def caltech4(data: Path) -> ImageSet:
    """The four categories: in `data`, with three of them also allowed in its folder caltech101."""
    found, labels = [], []
    for label, name in FOLDERS.items():
        inside = data / "caltech101" / name
        images = images_in(inside if inside.is_dir() else data / name)
        found += images.images
        labels += [label] * len(images.images)
    return ImageSet(found, labels)


def draw_of(seed: int) -> int:
    """The draw that a run uses."""
    return seed // RUNS_PER_DRAW
