"""One Gram matrix per channel over all images that take part, computed once and kept in the work folder.

Up to 80 images of each of Caltech-101's categories take part, drawn with seed 0, and all images of BACKGROUND_Google; of a
picture that is there twice, or mirrored, only the first. Channels are fitted on the first 15 drawn images of each category that
is never a target and shows no photograph of one. A test image is one of a target or of the background, so that no channel has
learned from one.

    python -m experiments.rodner2010.grams DATA --work FOLDER --channels phog,texture,colour
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from fewsight._base.archive import pack, read_archive, write_archive
from fewsight._base.errors import ArchiveError
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache, ImageSet, find_duplicates
from fewsight.images.hashing import hash_of

BACKGROUND = "BACKGROUND_Google"
NAMED = ("gerenuk", "kangaroo", "okapi", "watch")  # the targets that the paper's text speaks of
EVERY = 4  # the list of the others is in a figure that is not at hand: every fourth of the other categories stands in
MOST_IMAGES = 80
FIT_IMAGES = 15
# Categories that show the same photographs: what one of them is tested on must not lend to it. `shared_photographs` finds them.
# Faces_easy are crops of Faces; a few of crocodile_head are crops of crocodile, and of cougar_face of cougar_body.
SAME_PHOTOGRAPHS = tuple(
    frozenset(pair)
    for pair in (("Faces", "Faces_easy"), ("crocodile", "crocodile_head"), ("cougar_body", "cougar_face"))
)


def sharing(category: str) -> set[str]:
    """The other categories that show photographs of this one."""
    return {name for group in SAME_PHOTOGRAPHS if category in group for name in group} - {category}


def targets_of(classes: Sequence[str]) -> list[str]:
    """The categories that are learned from a few images: those named, and every fourth of the others."""
    others = sorted(set(classes) - {BACKGROUND, *NAMED})
    return sorted({*NAMED, *others[::EVERY]} & set(classes))


def drawn(images: ImageSet, most: int = MOST_IMAGES) -> ImageSet:
    """All of the background and at most this many images of each category, in the order of the draw."""
    chosen: list[int] = []
    for label in images.classes:
        members = np.flatnonzero(images.labels == label)
        order = np.random.default_rng([0, len(members)]).permutation(members)
        chosen.extend(order if label == BACKGROUND else order[:most])
    return images.select(chosen)


def without_copies(images: ImageSet, cache: FeatureCache | None = None, n_jobs: int | None = None) -> ImageSet:
    """Every picture once: the first of those that are the same, mirrored or not."""
    with silent():
        sets = find_duplicates(images.images, mirrored=True, cache=cache, n_jobs=n_jobs).sets
    return images.without([copy for rows in sets for copy in sorted(rows)[1:]])


@dataclass(frozen=True)
class Pool:
    """The images that take part and their Gram matrices, on disk or to be made."""

    images: ImageSet  # as `drawn` and `without_copies` return it
    channels: Mapping[str, Channel]
    work: Path

    @property
    def labels(self) -> npt.NDArray[Any]:
        return self.images.labels

    @cached_property
    def targets(self) -> list[str]:
        return targets_of(self.images.classes)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the Gram matrices, beside the images."""
        return {name: settings_of(channel) for name, channel in self.channels.items()}

    def make(self) -> None:
        """Compute what is missing."""
        missing = [name for name in self.channels if not self.path(name).exists()]
        for name in track(missing, "Gram matrices", len(missing)):
            with silent():
                self._make(name)

    def load(self) -> Array:
        """The mean of the channels' Gram matrices, each with a diagonal of mean 1; a damaged file is made again."""
        total = np.zeros((len(self.images), len(self.images)))
        for name in self.channels:
            K = self._read(name)
            total += K / (len(self.channels) * K.diagonal().mean())
        return total

    def path(self, name: str) -> Path:
        hashes = [image.content_hash.encode() for image in self.images]
        digest = hash_of(pack(self.settings[name]), *hashes, *(hashes[i] for i in self.fitted))
        return self.work / "pool" / f"{name}-{digest[:16]}.gram"

    def _read(self, name: str) -> npt.NDArray[Any]:
        try:
            return read_archive(self.path(name)).arrays["gram"]
        except (ArchiveError, FileNotFoundError):
            self._make(name)
            return read_archive(self.path(name)).arrays["gram"]

    def _make(self, name: str) -> None:
        channel = clone(self.channels[name]).set_params(cache=self.channels[name].cache)
        K = channel.fit([self.images.images[i] for i in self.fitted]).gram(channel.encode(self.images.images))
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, State({"channel": self.settings[name]}, {"gram": K.astype(np.float32)}))

    @cached_property
    def fitted(self) -> Indices:
        """The images that channels are fitted on."""
        tested = {BACKGROUND, *self.targets}.union(*map(sharing, self.targets))
        never_tested = [label for label in self.images.classes if label not in tested]
        return np.concatenate([np.flatnonzero(self.labels == label)[:FIT_IMAGES] for label in never_tested])


def parser() -> argparse.ArgumentParser:
    """The options of this command."""
    from experiments.rodner2010.command import arguments

    return arguments("grams", __doc__, seeds=None)


def _main() -> None:
    from experiments.common.command import run
    from experiments.rodner2010.command import pool_of

    def work(options: Any) -> None:
        pool = pool_of(options)
        pool.make()
        print(*(pool.path(name) for name in pool.channels), sep="\n")

    run(parser(), work)


if __name__ == "__main__":
    _main()
