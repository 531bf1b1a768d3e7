"""How an evaluation draws its images: the papers' protocol as a value. [Kapoor2010, section 8]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices
from fewsight.evaluation.outcomes import LabelArray
from fewsight.images import Split, draw_split

UNLABELLED = 1  # beside the seed: the random stream that unlabelled images are drawn from


@dataclass(frozen=True)
class Draw:
    """The training and test images of one repeat at one number of examples per class."""

    repeat: int
    per_class: int
    seed: int
    train: Indices
    test: Indices  # of the classes that are learned
    held_out: Indices  # test images of the classes that are not
    unlabelled: Indices = field(
        default_factory=lambda: np.empty(0, dtype=np.intp)
    )  # to learn from without their labels

    @property
    def asked(self) -> Indices:
        """All images that are shown after training: `test`, then `held_out`."""
        return np.concatenate([self.test, self.held_out])

    def among(self, members: Indices) -> Draw:
        """The same draw, for images that are numbered by `members`."""
        parts = {name: members[getattr(self, name)] for name in ("train", "test", "held_out", "unlabelled")}
        return replace(self, **parts)


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
    hold_out : classes that are never trained on, chosen anew by the seed of each repeat; their test images are shown after
        training, to see whether they are told from those of the classes that were learned.
    unlabelled : images that are shown without a label while learning, to channels and learners that learn from such. They are
        drawn from images that have no label and from labelled ones that are neither trained on nor tested, but never from
        classes that are held out.

    Within a repeat the training images for a small number are among those for a larger one, and the test images and the
    unlabelled ones stay the same, so that the points of a learning curve differ in nothing but the number of examples.
    """

    images_per_class: int | None = None
    per_class: tuple[int, ...] = (5,)
    test_per_class: int | None = None
    repeats: int = 10
    seed: int = 0
    hold_out: int = 0
    unlabelled: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_class", _check_sizes(self.per_class))
        check_integer(self, "repeats", self.repeats, least=1)
        check_integer(self, "seed", self.seed, least=0)
        check_integer(self, "hold_out", self.hold_out, least=0)
        check_integer(self, "unlabelled", self.unlabelled, least=0)
        if self.test_per_class is not None:
            check_integer(self, "test_per_class", self.test_per_class, least=1)
        if self.images_per_class is not None:
            check_integer(self, "images_per_class", self.images_per_class, least=2)
            self._check_room()

    @property
    def most(self) -> int:
        """The largest number of training images per class."""
        return max(self.per_class)

    def splits(self, labels: LabelArray) -> Iterator[Draw]:
        """Every draw for images with these labels: repeat by repeat, and within it from few examples to many.

        Parameters
        ----------
        labels : a label for each image (n,), None where there is none.
        """
        for repeat in range(self.repeats):
            seed = self.seed + repeat
            strange = self._strange(labels, seed)
            unlabelled = self._unlabelled(self._split(labels, self.most, seed), strange, seed)
            for per_class in self.per_class:
                yield _draw(repeat, per_class, seed, self._split(labels, per_class, seed), strange, unlabelled)

    def settings(self) -> dict[str, Any]:
        """The protocol as JSON knows it."""
        return {
            "images_per_class": self.images_per_class,
            "per_class": list(self.per_class),
            "test_per_class": self.test_per_class,
            "repeats": self.repeats,
            "seed": self.seed,
            "hold_out": self.hold_out,
            "unlabelled": self.unlabelled,
        }

    def _split(self, labels: LabelArray, per_class: int, seed: int) -> Split:
        return draw_split(
            labels,
            images_per_class=self.images_per_class,
            per_class=per_class,
            test_per_class=self.test_per_class,
            seed=seed,
            reserve=self.most,
        )

    def _unlabelled(self, largest: Split, strange: npt.NDArray[np.bool_], seed: int) -> Indices:
        """Images that are in neither part of the largest split, nor of a class that is held out."""
        free = ~strange
        free[largest.train] = free[largest.test] = False
        candidates = np.flatnonzero(free)
        if len(candidates) < self.unlabelled:
            raise InvalidInput(
                f"Protocol: unlabelled must be at most {len(candidates)}, the images that are neither trained on nor tested, "
                f"got {self.unlabelled}."
            )
        return np.random.default_rng([seed, UNLABELLED]).permutation(candidates)[: self.unlabelled]

    def _strange(self, labels: LabelArray, seed: int) -> npt.NDArray[np.bool_]:
        """Which of the images belong to classes that are held out under this seed."""
        classes = sorted({label for label in labels if label is not None}, key=str)
        if self.hold_out and len(classes) - self.hold_out < 2:
            raise InvalidInput(
                f"Protocol: hold_out must leave two or more categories to learn, got {self.hold_out} of {len(classes)}."
            )
        order = np.random.default_rng(seed).permutation(len(classes))
        chosen = {classes[i] for i in order[: self.hold_out]}
        return np.array([label in chosen for label in labels], dtype=bool)

    def _check_room(self) -> None:
        test = 1 if self.test_per_class is None else self.test_per_class
        if self.images_per_class is not None and self.most + test > self.images_per_class:
            raise InvalidInput(
                f"Protocol: images_per_class must be at least {self.most + test} "
                f"({self.most} to train with and {test} to test with), got {self.images_per_class}."
            )


def _draw(
    repeat: int, per_class: int, seed: int, split: Split, strange: npt.NDArray[np.bool_], unlabelled: Indices
) -> Draw:
    """A split without the training images of the held-out classes, and with their test images apart."""
    train, test = np.asarray(split.train), np.asarray(split.test)
    return Draw(repeat, per_class, seed, train[~strange[train]], test[~strange[test]], test[strange[test]], unlabelled)


def _check_sizes(per_class: Sequence[int] | str) -> tuple[int, ...]:
    if not isinstance(per_class, Sequence) or isinstance(per_class, str) or not per_class:
        raise InvalidInput(f"Protocol: per_class must be one or more whole numbers, got {shown(per_class)}.")
    sizes = [check_integer("Protocol", "per_class", size, least=1) for size in per_class]
    return tuple(sorted(set(sizes)))
