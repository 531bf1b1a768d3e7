"""What the channels on dense SIFT share: the cached local features and, for some, visual words in a spatial pyramid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices, LocalFeatures, Recipe, State
from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import LARGEST_SIDE, DescriptorSample, PixelChannel, PyramidLevels
from fewsight.encodings import Codebook, SpatialPyramid, kmeans_codebook
from fewsight.features import DenseOpponentSift, DenseSift
from fewsight.kernels import HistogramIntersection, Kernel

MOST_DESCRIPTORS = 1_000_000  # of an image: 128 megabytes
MOST_WORK = 10_000_000_000  # pixels that the descriptors of an image look at: a minute or two


class DenseSiftChannel(DescriptorSample, PixelChannel, ABC):
    """Dense SIFT in, rows compared by histogram intersection out."""

    step: float = option(default=8, doc="distance of two descriptors of the grid, in pixels of the working resolution.")
    patch: int = option(default=16, doc="side of the square that a descriptor of scale 1 covers, in the same pixels.")
    scales: tuple[float, ...] = option(
        default=(1.0, 1.5, 2.0), doc="the squares are larger by each of these, all of them on a grid of the same step."
    )
    contrast: float = option(
        default=0.0, doc="a square whose mean gradient (grey levels of 255 per pixel) is below this counts as blank."
    )

    @property
    def kernel(self) -> Kernel:
        return HistogramIntersection()

    @property
    def _descriptor(self) -> DenseSift | DenseOpponentSift:
        return DenseSift(step=self.step, patch=self.patch, scales=self.scales, contrast=self.contrast)

    @property
    def _descriptor_width(self) -> int:
        return self._descriptor.width

    def _feature_recipe(self) -> Recipe:
        """Each option may be sensible, and all together fill the memory or take hours for one image."""
        grid, side = self._descriptor, self._working_side
        n_descriptors = len(grid.scales) * (side / grid.step) ** 2  # at every scale the same step, as in the image
        dear = n_descriptors > MOST_DESCRIPTORS or n_descriptors * grid.patch**2 > MOST_WORK
        if dear or side / min(grid.scales) > LARGEST_SIDE:
            raise InvalidInput(
                f"{type(self).__name__}: step, patch, scales and longest_side must together ask for less work, got "
                f"{n_descriptors:,.0f} descriptors of {grid.patch} x {grid.patch} pixels for an image of {side} x {side}."
            )
        return {**grid.recipe(), "longest_side": side}


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


class CodebookChannel(WordsChannel, ABC):
    """The vocabulary is a codebook: the centres of clusters of descriptors."""

    n_words: int = option(default=400, doc="words of the codebook.")

    @property
    def _vocabulary(self) -> Codebook:
        return self.codebook_

    def _learn_recipe(self) -> Recipe:
        return {
            "kind": "kmeans_codebook",
            "version": 1,
            "n_words": check_integer(self, "n_words", self.n_words, least=1, most=50_000),
            "n_descriptors": check_integer(self, "n_descriptors", self.n_descriptors, least=1),
            "random_state": self.random_state,
        }

    def _learn(self, samples: list[np.ndarray]) -> State:
        return kmeans_codebook(np.concatenate(samples), self.n_words, random_state=self.random_state).state()

    def _set_learned(self, state: State) -> None:
        self.codebook_, name = Codebook.from_state(state), type(self).__name__
        if self.codebook_.words.shape[1] != self._descriptor.width:
            raise InvalidInput(
                f"{name}: a codebook of SIFT words has {self._descriptor.width} columns, got {self.codebook_.words.shape[1]}."
            )
        if self.n_columns > np.iinfo(np.int32).max:
            raise InvalidInput(f"{name}: n_words times cells must be below 2^31, got {self.n_columns:,}.")
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "codebook": self.codebook_.digest}
