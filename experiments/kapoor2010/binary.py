"""Every category against all others on the complete Caltech-101, asked about actively and at random, kept in a work folder.

A validation set is 10 images of every category, never asked about; all other images are the pool. A run starts with one label of
the category and one of anything else. The channel is fitted on the background images, which belong to no category: one matrix
serves all validation sets and nothing is learned from them. Both rules start with the same labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import BACKGROUND
from experiments.kapoor2010.asking import PAPER_NOISE
from experiments.kapoor2010.detection import detection_curve
from fewsight._base.archive import pack, read_archive, write_archive, write_text
from fewsight._base.errors import ArchiveError, InvalidInput
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.evaluation.provenance import settings_of
from fewsight.evaluation.results import json_text
from fewsight.images import ImageSet, image_set_from_class_folders
from fewsight.images.hashing import hash_of

RULES = ("uncertainty", "random")
Found = dict[str, dict[str, list[float]]]  # by category and rule: accuracy from two labels on


@dataclass(frozen=True)
class Binary:
    """The runs of some validation sets, on disk or to be made."""

    images: ImageSet  # with the background
    channel: Channel
    work: Path
    n_queries: int
    per_class: int = 10  # in a validation set

    @cached_property
    def members(self) -> Indices:
        """Positions of the images that belong to a category."""
        return np.flatnonzero(np.array(self.images.labels) != BACKGROUND)

    @cached_property
    def labels(self) -> Any:
        """Of the members."""
        return np.array(self.images.labels)[self.members]

    @property
    def classes(self) -> list[str]:
        """Without the background."""
        return [label for label in self.images.classes if label != BACKGROUND]

    def runs(self, sets: Sequence[int]) -> dict[int, Found]:
        """What was found for each validation set; what is there is not computed again."""
        missing = [number for number in sets if not self.path(number).exists()]
        if missing:
            K = self.gram()
            for number in track(missing, "validation sets", len(missing)):
                with silent():
                    found = self._run(K, number)
                self.path(number).parent.mkdir(parents=True, exist_ok=True)
                write_text(self.path(number), json_text(found))
        return {number: json.loads(self.path(number).read_text()) for number in sets}

    def path(self, number: int) -> Path:
        """The file of a validation set."""
        settings = {"per_class": self.per_class, "n_queries": self.n_queries, "noise_variance": PAPER_NOISE}
        return self.work / "binary" / hash_of(self.digest.encode(), pack(settings))[:16] / f"set{number}.json"

    @cached_property
    def digest(self) -> str:
        """Of the channel's settings and the images."""
        pairs = zip(self.images.images, self.images.labels, strict=True)
        names = [f"{label}/{Path(image.name).name}" for image, label in pairs]
        return hash_of(pack({"channel": settings_of(self.channel), "names": names}))

    def validation(self, number: int) -> Indices:
        """Positions among the members."""
        rng = np.random.default_rng(number)
        groups = [np.flatnonzero(self.labels == label) for label in self.classes]
        small = [label for label, group in zip(self.classes, groups, strict=True) if len(group) <= self.per_class]
        if small:
            raise InvalidInput(f"Binary: every category must have more than {self.per_class} images, not so {small}.")
        return np.sort(np.concatenate([rng.permutation(group)[: self.per_class] for group in groups]))

    def _run(self, K: Array, number: int) -> Found:
        test = self.validation(number)
        return {
            category: {rule: self._curve(K, category, rule, test, number) for rule in RULES}
            for category in self.classes
        }

    def _curve(self, K: Array, category: str, rule: str, test: Indices, number: int) -> list[float]:
        found = detection_curve(K, self.labels == category, test, rule, self.n_queries, PAPER_NOISE, number)
        return [round(accuracy, 6) for accuracy in found]

    def gram(self) -> Array:
        """Of all members, made once."""
        path = self.work / "binary" / f"gram-{self.digest[:12]}.npz"
        try:
            return read_archive(path).arrays["K"]
        except (ArchiveError, FileNotFoundError):
            K = self._new_gram()
            path.parent.mkdir(parents=True, exist_ok=True)
            write_archive(path, State({"channel": settings_of(self.channel)}, {"K": K}))
            return K

    def _new_gram(self) -> Array:
        others = np.setdiff1d(np.arange(len(self.images.images)), self.members)
        if not len(others):
            raise InvalidInput(f"Binary: the folder {BACKGROUND} must hold the images that the channel is fitted on.")
        failures = self.channel.prepare(self.images.images)
        if failures:
            raise failures[0]
        self.channel.fit([self.images.images[i] for i in others])
        encoded = self.channel.encode([self.images.images[i] for i in self.members])
        return self.channel.gram(encoded).astype(np.float32)


def complete(data: Path) -> ImageSet:
    """All of Caltech-101 with its background."""
    return image_set_from_class_folders(data / "caltech101" if (data / "caltech101").is_dir() else data)


def gains(found: dict[int, Found], category: str, n_queries: int) -> Array:
    """How far active is above random after some questions, one for each validation set."""
    return curve(found, category, RULES[0])[:, n_queries] - curve(found, category, RULES[1])[:, n_queries]


def curve(found: dict[int, Found], category: str, rule: str) -> Array:
    """Accuracy (validation sets, questions + 1)."""
    return np.array([one[category][rule] for one in found.values()])
