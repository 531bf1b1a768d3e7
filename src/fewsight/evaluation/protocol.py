"""How an evaluation draws its images: the papers' protocol as a value. [Kapoor2010, section 8]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewsight._base.checks import check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices
from fewsight.images import draw_split


@dataclass(frozen=True)
class Draw:
    """The training and test images of one repeat at one number of examples per class."""

    repeat: int
    per_class: int
    seed: int
    train: Indices
    test: Indices

    def among(self, members: Indices) -> Draw:
        """The same draw, for images that are numbered by `members`."""
        return Draw(self.repeat, self.per_class, self.seed, members[self.train], members[self.test])


@dataclass(frozen=True)
class Protocol:
    """A seeded subset of each class, some of it for training, the rest for testing, several times over.

    Parameters
    ----------
    images_per_class : images of each class that take part in a repeat; None means all.
    per_class : numbers of training images per class, each of them evaluated.
    test_per_class : test images per class; None means all that remain.
    repeats : how often to draw anew; repeat r uses the seed `seed + r`.
    seed : of the first repeat.

    Within a repeat the training images for a small number are among those for a larger one, and the test images stay the
    same, so that the points of a learning curve differ in nothing but the number of examples.
    """

    images_per_class: int | None = None
    per_class: tuple[int, ...] = (5,)
    test_per_class: int | None = None
    repeats: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_class", _check_sizes(self.per_class))
        check_integer(self, "repeats", self.repeats, least=1)
        check_integer(self, "seed", self.seed, least=0)
        if self.test_per_class is not None:
            check_integer(self, "test_per_class", self.test_per_class, least=1)
        if self.images_per_class is not None:
            check_integer(self, "images_per_class", self.images_per_class, least=2)
            self._check_room()

    @property
    def most(self) -> int:
        """The largest number of training images per class."""
        return max(self.per_class)

    def splits(self, labels: Any) -> Iterator[Draw]:
        """Every draw for images with these labels: repeat by repeat, and within it from few examples to many."""
        for repeat in range(self.repeats):
            seed = self.seed + repeat
            for per_class in self.per_class:
                split = draw_split(
                    labels,
                    images_per_class=self.images_per_class,
                    per_class=per_class,
                    test_per_class=self.test_per_class,
                    seed=seed,
                    reserve=self.most,
                )
                yield Draw(repeat, per_class, seed, np.asarray(split.train), np.asarray(split.test))

    def settings(self) -> dict[str, Any]:
        """The protocol as JSON knows it."""
        return {
            "images_per_class": self.images_per_class,
            "per_class": list(self.per_class),
            "test_per_class": self.test_per_class,
            "repeats": self.repeats,
            "seed": self.seed,
        }

    def _check_room(self) -> None:
        test = 1 if self.test_per_class is None else self.test_per_class
        if self.images_per_class is not None and self.most + test > self.images_per_class:
            raise InvalidInput(
                f"Protocol: images_per_class must be at least {self.most + test} "
                f"({self.most} to train with and {test} to test with), got {self.images_per_class}."
            )


def _check_sizes(per_class: Any) -> tuple[int, ...]:
    if not isinstance(per_class, Sequence) or isinstance(per_class, str) or not per_class:
        raise InvalidInput(f"Protocol: per_class must be one or more whole numbers, got {shown(per_class)}.")
    sizes = [check_integer("Protocol", "per_class", size, least=1) for size in per_class]
    return tuple(sorted(set(sizes)))
