"""What the channels on neural networks share: pixels, prepared and run through a network, one image at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fewsight._base.types import Recipe
from fewsight.channels.pixel_channel import WorkingResolution
from fewsight.channels.vector_channel import VectorChannel
from fewsight.features.networks import ImageNetwork
from fewsight.images import Image


class NetworkChannel(WorkingResolution, VectorChannel, ABC):
    """The output of a network is the vector of an image.

    Each image is run by itself on one thread, and several images at the same time: without a GPU that is as quick as batches, and
    no image's numbers depend on its company.
    """

    longest_side: int = 480

    @abstractmethod
    def _network(self) -> ImageNetwork:
        """The network, loaded once for all channels that use it."""

    @abstractmethod
    def _network_recipe(self) -> Recipe:
        """All that decides what comes out of the network; does not load it."""

    def _vector(self, image: Image) -> np.ndarray:
        return self._network().vector(image.pixels(self._working_side), image.name)

    def _feature_recipe(self) -> Recipe:
        return {**self._network_recipe(), "longest_side": self._working_side}
