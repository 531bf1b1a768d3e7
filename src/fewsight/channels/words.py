"""What the channels on visual words share: words of dense descriptors, counted in a spatial pyramid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.types import Indices, LocalFeatures
from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.shared_options import PyramidLevels
from fewsight.encodings import SpatialPyramid


class Vocabulary(Protocol):
    """Turns descriptors into words: a codebook or a forest."""

    @property
    def n_words(self) -> int:
        """How many words there are."""

    def assign(self, descriptors: np.ndarray) -> Indices:
        """The word, or the words, of each descriptor."""


class WordsChannel(PyramidLevels, DenseSiftChannel, ABC):
    """Learns a vocabulary from descriptors of the training images, and counts words in the cells of a spatial pyramid."""

    @property
    @abstractmethod
    def _vocabulary(self) -> Vocabulary:
        """What was learned."""

    @property
    def n_columns(self) -> int:
        return self._pyramid.n_cells * self._vocabulary.n_words

    @property
    def _pyramid(self) -> SpatialPyramid:
        return SpatialPyramid(self.n_levels)

    def _check_options(self) -> None:
        super()._check_options()
        self._pyramid.recipe()

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return features.descriptors[self._drawn(len(features), n_images, rng)]

    def _encode(self, features: LocalFeatures) -> Entry:
        words = self._vocabulary.assign(features.descriptors)
        return SparseRows.entry(*self._pyramid.encode(words, features.locations, self._vocabulary.n_words))
