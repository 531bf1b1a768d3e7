"""What learners need of their examples, and how an evaluation or an application gives it to them.

An evaluation prepares images channel by channel and never asks which learner it has: the learner's needs turn what is prepared
into what is fitted to and asked about. Nothing is computed that no learner needs.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from time import perf_counter
from typing import ClassVar, NamedTuple, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.channels import Channel, Encodings, GenerativeChannel, fit_channel
from fewsight.images import Image
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.histograms import SideBySide, compares_by_intersection
from fewsight.learners.labels import Labels


class Prepared(ABC):
    """Training images, and images to ask about, through one channel. What is computed is computed once, when it is needed."""

    channel: Channel  # unfitted, with the options to be used

    @property
    @abstractmethod
    def images(self) -> tuple[Sequence[Image], Sequence[Image]]:
        """The training images and those to ask about."""

    @property
    def unlabelled(self) -> Sequence[Image]:
        """Training images without a label, for those that learn from such."""
        return ()

    @property
    @abstractmethod
    def encodings(self) -> tuple[Encodings, Encodings]:
        """Of the training images and of those to ask about."""

    @property
    @abstractmethod
    def grams(self) -> tuple[Array, Array]:
        """Training x training and asked x training."""


@final
class PreparedImages(Prepared):
    """Images whose channel is fitted on the training images alone; it says how long that took."""

    def __init__(
        self,
        channel: Channel,
        train: Sequence[Image],
        labels: Labels,
        asked: Sequence[Image],
        unlabelled: Sequence[Image] = (),
    ) -> None:
        self.channel, self._train, self._labels, self._asked = channel, train, labels, asked
        self._unlabelled = unlabelled
        self.seconds_encodings = self.seconds_gram = 0.0

    @property
    def images(self) -> tuple[Sequence[Image], Sequence[Image]]:
        return self._train, self._asked

    @property
    def unlabelled(self) -> Sequence[Image]:
        return self._unlabelled

    @property
    def n_described(self) -> int:
        """How many images the channel looks at."""
        unlabelled = self._unlabelled if self.channel.learns_from_unlabelled else ()
        return len(self._train) + len(self._asked) + len(unlabelled)

    @property
    def encodings(self) -> tuple[Encodings, Encodings]:
        return self._encoded[1:]

    @cached_property
    def grams(self) -> tuple[Array, Array]:
        channel, train, asked = self._encoded
        start = perf_counter()
        grams = channel.gram(train), channel.gram(asked, train)
        self.seconds_gram = perf_counter() - start
        return grams

    @cached_property
    def _encoded(self) -> tuple[Channel, Encodings, Encodings]:
        start = perf_counter()
        images, labelled = [*self._train, *self._unlabelled], np.arange(len(self._train))
        fitted = fit_channel(copy.copy(self.channel), images, self._labels, labelled)
        encoded = fitted, fitted.encode(self._train), fitted.encode(self._asked)
        self.seconds_encodings = perf_counter() - start
        return encoded


class Given(NamedTuple):
    """What a learner is given: X for `fit`, X to ask about, what they are, and for rows the channel of each column.

    The last `n_unlabelled` examples of `train` have no label.
    """

    train: Examples
    asked: Examples
    kernel: KernelLike
    groups: Indices | None = None
    n_unlabelled: int = 0


class Needs(ABC):
    """What a learner needs of its examples."""

    channels_that: ClassVar[str] = "see images"  # in words: what every channel must do
    takes_unlabelled: ClassVar[bool] = False  # whether unlabelled images reach the learner itself
    takes_rows: ClassVar[bool] = True  # whether examples may be rows of numbers; otherwise they are images

    @abstractmethod
    def given(self, prepared: Sequence[Prepared]) -> Given:
        """Both sides of one or several channels, as the learner takes them."""

    def accepts(self, channel: Channel) -> bool:
        """Whether a channel, unfitted or not, does what it must."""
        return True

    def are_images(self, channels: Sequence[Channel]) -> bool:
        """Whether the examples of a learner that has these channels are images."""
        return bool(channels)

    def bytes_of_pairs(self, n_images: int, n_channels: int) -> int:
        """Memory that comparing every training image with every other takes; nothing where no learner does so."""
        return 0


@final
class GramsNeeded(Needs):
    """Gram matrices: one, or a list of those of several channels."""

    per_pair = 64  # bytes, while learning: a number in each of about eight matrices
    per_pair_and_channel = 16  # and with every further channel, in its Gram matrix and a copy to add it up from

    def given(self, prepared: Sequence[Prepared]) -> Given:
        train, asked = zip(*(each.grams for each in prepared), strict=True)
        if len(train) == 1:
            return Given(train[0], asked[0], "precomputed")
        return Given(list(train), list(asked), "precomputed")

    def bytes_of_pairs(self, n_images: int, n_channels: int) -> int:
        return (self.per_pair + self.per_pair_and_channel * (n_channels - 1)) * n_images**2


@final
class RowsNeeded(Needs):
    """Rows of histograms: encodings of channels that compare by histogram intersection, side by side."""

    channels_that: ClassVar[str] = "compare by histogram intersection"

    def given(self, prepared: Sequence[Prepared]) -> Given:
        train, asked = (list(side) for side in zip(*(each.encodings for each in prepared), strict=True))
        layout = SideBySide.of(train)
        return Given(layout.rows(train), layout.rows(asked), None, layout.groups)

    def accepts(self, channel: Channel) -> bool:
        return compares_by_intersection(channel)


class ImagesNeeded(Needs):
    """The images themselves; the learner fits the channels, or whatever else it sees them through."""

    takes_unlabelled: ClassVar[bool] = True

    def given(self, prepared: Sequence[Prepared]) -> Given:
        (train, asked), unlabelled = prepared[0].images, prepared[0].unlabelled
        channels = [each.channel for each in prepared]
        return Given([*train, *unlabelled], asked, channels, n_unlabelled=len(unlabelled))

    def are_images(self, channels: Sequence[Channel]) -> bool:
        return True


@final
class DensitiesNeeded(ImagesNeeded):
    """The images themselves, through channels that say how probable an image is."""

    channels_that: ClassVar[str] = "model images"
    takes_rows: ClassVar[bool] = False

    def accepts(self, channel: Channel) -> bool:
        return isinstance(channel, GenerativeChannel)
