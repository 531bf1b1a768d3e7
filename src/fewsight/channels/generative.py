"""Channels that learn densities of images, so that they also say how probable an image is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from fewsight._base.types import Array
from fewsight.channels.base import Channel


class GenerativeChannel(Channel, ABC):
    """A channel whose encoding comes from models that give every image a probability density."""

    @property
    @abstractmethod
    def n_models(self) -> int:
        """How many models were learned."""

    @abstractmethod
    def log_likelihood(self, images: Sequence[Any]) -> Array:
        """How probable images are under each model.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.

        Returns
        -------
        array (n, n_models)
            Natural logarithms of densities; models in the order in which their categories came first.
        """

    @abstractmethod
    def modelling_each(self) -> Self:
        """An unfitted copy that learns one model for each category, from its labelled images."""
