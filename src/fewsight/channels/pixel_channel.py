"""What the channels on pixels share: something describes the image at the working resolution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Protocol

from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.channels.base import Channel
from fewsight.channels.shared_options import WorkingResolution
from fewsight.images import Image


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
