"""What the channels on pixels share: options, and something that describes the image at the working resolution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Protocol

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Indices, LocalFeatures, Pixels, Recipe
from fewsight.channels.base import Channel
from fewsight.channels.option_fields import Options, option
from fewsight.images import Image

LARGEST_SIDE = 5_000  # pixels of the working resolution; also of an image that a scale below 1 enlarges


class WorkingResolution(Options):
    """For channels that look at pixels."""

    longest_side: int = option(
        default=300, doc="images are made smaller, never larger, so that this many pixels are their longest side."
    )

    @property
    def _working_side(self) -> int:
        return check_integer(self, "longest_side", self.longest_side, least=16, most=LARGEST_SIDE)


class PyramidLevels(Options):
    """For channels that say where in the image something is."""

    n_levels: int = option(
        default=3,
        doc="levels of the pyramid: 3 means the whole image, its quarters and its sixteenths; 4 its sixty-fourths as well.",
    )


class DescriptorSample(Options):
    """For channels that learn from descriptors of the training images."""

    n_descriptors: int = option(default=100_000, doc="descriptors drawn from the training images to learn from.")

    def _drawn(self, n: int, n_images: int, rng: np.random.Generator) -> Indices:
        """Which of its n descriptors one of `n_images` images contributes, ascending."""
        share = max(1, self.n_descriptors // n_images)
        return np.sort(rng.permutation(n)[:share])


class Descriptor(Protocol):
    """Finds local features: a grid, a detector, the histograms of cells."""

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """The local features of an image."""


class PixelChannel(WorkingResolution, Channel, ABC):
    """Local features of the pixels, and with them the aspect of the image."""

    @property
    @abstractmethod
    def _descriptor(self) -> Descriptor:
        """Made of checked options."""

    def _feature_recipe(self) -> Recipe:
        return {**self._descriptor.recipe(), "longest_side": self._working_side}

    def _describe(self, image: Image) -> LocalFeatures:
        pixels = image.pixels(self._working_side)
        height, width = pixels.shape[:2]
        return replace(self._descriptor.describe(pixels), aspect=width / height)
