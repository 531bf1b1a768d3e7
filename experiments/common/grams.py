"""Gram matrices of several channels for draws of Caltech-101, kept in a work folder.

A draw is 30 images of each category: the first n of them to learn from, the last 15 to test on, so that all n share their test
images. Every channel is fitted on the n training images of each category alone or, with a pool, on the first images of each
category, as many as the pool says: as in the paper, where the kernels are the same for every n. No label is used for that.

Each file holds train (n, n) and test (m, n) as float32 with train_labels and test_labels, for one channel and one draw; what is
there already is not computed again. Files lie under a hash of the channel's settings and of the images: a folder may hold several
settings. After a change of what a channel computes, begin with an empty folder.

    python -m experiments.common.grams DATA --work FOLDER --seeds 100 --sizes 15
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from fewsight._base.archive import pack, read_archive, write_archive
from fewsight._base.errors import ArchiveError, InvalidInput
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, State
from fewsight.channels import Channel
from fewsight.evaluation.provenance import settings_of
from fewsight.images import ImageSet, Split, draw_split
from fewsight.images.hashing import hash_of


class Place(NamedTuple):
    """Where in the experiment: a draw, and how many of its images are learned from."""

    seed: int
    per_class: int

    @property
    def stem(self) -> str:
        return f"seed{self.seed}_n{self.per_class}"


@dataclass(frozen=True)
class Grams:
    """Gram matrices of all channels for one place."""

    train: dict[str, Array]  # (n, n) each
    test: dict[str, Array]  # (m, n) each
    labels: Any  # (n,)
    test_labels: Any  # (m,)


@dataclass(frozen=True)
class GramStore:
    """The Gram matrices of some channels, on disk or to be made."""

    images: ImageSet
    channels: Mapping[str, Channel]
    work: Path
    images_per_class: int = 30
    test_per_class: int = 15
    pool: int | None = None  # training images per class that channels are fitted on; None: those that are learned from

    def split(self, place: Place) -> Split:
        """Positions of the training and test images."""
        reserve = self.images_per_class - self.test_per_class
        if not 1 <= place.per_class <= reserve:
            raise InvalidInput(
                f"GramStore: examples per category must be from 1 to {reserve} ({self.images_per_class} images take part, "
                f"{self.test_per_class} of them to test on), got {place.per_class}."
            )
        return draw_split(
            self.images.labels,
            images_per_class=self.images_per_class,
            per_class=place.per_class,
            test_per_class=self.test_per_class,
            seed=place.seed,
            reserve=reserve,
        )

    def path(self, name: str, place: Place) -> Path:
        """The file of a channel's Gram matrices."""
        return self.work / "grams" / f"{name}-{self.digests[name][:12]}" / f"{place.stem}.npz"

    @cached_property
    def digests(self) -> dict[str, str]:
        """Of each channel's settings, together with all images and how they are drawn."""
        names = sorted(f"{label}/{Path(image.name).name}" for image, label in self._labelled())
        drawn = pack({"images_per_class": self.images_per_class, "test_per_class": self.test_per_class, "names": names})
        return {name: hash_of(pack(self.settings[name]), drawn) for name in self.channels}

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Of each channel; the seed of a draw is also that of its channels."""
        found = {name: settings_of(channel) for name, channel in self.channels.items()}
        return {name: {**options, "random_state": "seed"} for name, options in found.items()}

    def home(self, place: Place) -> Place:
        """Where the Gram matrices of a place are found: with a pool, in those of the pool."""
        return place if self.pool is None else Place(place.seed, max(self.pool, place.per_class))

    def make(self, places: Iterable[Place]) -> None:
        """Compute what is missing: first the local features of all images that take part, then place by place."""
        homes = dict.fromkeys(self.home(place) for place in places)
        wanted = [(place, name) for place in homes for name in self.channels]
        steps = [(place, name) for place, name in wanted if not self.path(name, place).exists()]
        for name in self.channels:
            self._prepare(name, [place for place, missing in steps if missing == name])
        for place, name in track(steps, "Gram matrices", len(steps)):
            with silent():
                self._make(name, place)

    def load(self, place: Place) -> Grams:
        """The Gram matrices of all channels at one place; a damaged file is made again."""
        home = self.home(place)
        stored = {name: self._read(name, home).arrays for name in self.channels}
        first = next(iter(stored.values()))
        rows = _positions(self.split(place).train, self.split(home).train)
        train = {name: arrays["train"][np.ix_(rows, rows)].astype(np.float64) for name, arrays in stored.items()}
        test = {name: arrays["test"][:, rows].astype(np.float64) for name, arrays in stored.items()}
        return Grams(train, test, first["train_labels"][rows], first["test_labels"])

    def _read(self, name: str, place: Place) -> State:
        try:
            return read_archive(self.path(name, place))
        except (ArchiveError, FileNotFoundError):
            self._make(name, place)
            return read_archive(self.path(name, place))

    def _prepare(self, name: str, places: Sequence[Place]) -> None:
        if not places:
            return
        splits = [self.split(place) for place in places]
        drawn = np.unique(np.concatenate([part for split in splits for part in (split.train, split.test)]))
        failures = self.channels[name].prepare([self.images.images[i] for i in drawn])
        if failures:
            raise failures[0]

    def _make(self, name: str, place: Place) -> None:
        split = self.split(place)
        train, test = ([self.images.images[i] for i in part] for part in (split.train, split.test))
        labels, test_labels = (np.array([self.images.labels[i] for i in part]) for part in (split.train, split.test))
        channel = clone(self.channels[name]).set_params(random_state=place.seed, cache=self.channels[name].cache)
        encoded = channel.fit(train, labels).encode(train)
        K, K_test = channel.gram(encoded), channel.gram(channel.encode(test), encoded)
        arrays = {"train": K.astype(np.float32), "test": K_test.astype(np.float32)}
        path = self.path(name, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"channel": self.settings[name], "seed": place.seed, "per_class": place.per_class}
        write_archive(path, State(header, {**arrays, "train_labels": labels, "test_labels": test_labels}))

    def _labelled(self) -> Iterable[tuple[Any, Any]]:
        return zip(self.images.images, self.images.labels, strict=True)


def _positions(chosen: Any, among: Any) -> Any:
    """Where each of some numbers stands in a list of different ones."""
    place = {number: position for position, number in enumerate(among)}
    return np.array([place[number] for number in chosen])


def parser() -> argparse.ArgumentParser:
    """The options of this command."""
    from experiments.common.command import arguments

    return arguments("grams", __doc__, sizes="15", paper="common")


def _main() -> None:
    from experiments.common.command import run, store_of

    def work(options: Any) -> None:
        store = store_of(options)
        store.make(options.places)
        for place in options.places:
            print(*(store.path(name, store.home(place)) for name in store.channels), sep="\n")

    run(parser(), work)


if __name__ == "__main__":
    _main()
