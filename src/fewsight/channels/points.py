"""What the pyramid-match channels share: local features as points of a low-dimensional space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from fewsight._base.checks import check_choice, check_integer, check_number
from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.types import LocalFeatures, Recipe, State
from fewsight.channels.base import Channel
from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import DescriptorSample
from fewsight.encodings import Projection, UniformPyramid, principal_components
from fewsight.kernels import HistogramIntersection, Kernel, PartialMatch

NORMALISATIONS = ("size", "self", "count")


class PointsChannel(DescriptorSample, Channel, ABC):
    """Learns a projection of the descriptors, and lets the subclass build bins over the projected points."""

    n_components: int = option(
        default=10, doc="dimensions that the SIFT descriptors are reduced to, each with unit variance."
    )
    position: float = option(
        default=8.0,
        doc="width of the image in the same units; a larger one lets matches be less far apart. 0 leaves it out.",
    )

    normalise: str = option(
        default="size",
        doc='what the pyramid match is divided by, so that images with many local features are not alike for that alone: "size" '
        'divides the features of each image by their number, "self" the match by the root of what both images match with '
        'themselves, as for a match of parts, and "count" divides by nothing.',
    )

    @property
    def kernel(self) -> Kernel:
        return PartialMatch() if self.normalise == "self" else HistogramIntersection()

    @classmethod
    def from_state(cls, state: State) -> Self:
        """A file from before there was a choice compares images as they were compared then."""
        options = state.header["options"]
        if isinstance(options, dict) and "normalise" not in options:
            state = State({**state.header, "options": {**options, "normalise": "size"}}, state.arrays)
        return super().from_state(state)

    @abstractmethod
    def _learn_bins(self, points: np.ndarray) -> State:
        """What the bins need to know, from points of the training images."""

    @abstractmethod
    def _set_bins(self, state: State) -> None:
        """Take back what `_learn_bins` returned."""

    @abstractmethod
    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ascending columns and values of the row of one image; see `_divided`."""

    @property
    def _divided(self) -> bool:
        """Whether rows are divided by the number of features."""
        return self.normalise == "size"

    def _check_options(self) -> None:
        super()._check_options()
        check_choice(self, "normalise", self.normalise, NORMALISATIONS)

    def _counts_recipe(self) -> Recipe:
        """Marks rows that are not divided by the number of features."""
        return {} if self._divided else {"rows": "counts"}

    def _learn_recipe(self) -> Recipe:
        return {
            "kind": "projection",
            "version": 1,
            "n_components": check_integer(self, "n_components", self.n_components, least=1),
            "position": check_number(self, "position", self.position, least=0, most=1e6),
            "n_descriptors": check_integer(self, "n_descriptors", self.n_descriptors, least=1),
            "random_state": self.random_state,
        }

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        """Descriptors with the locations behind them, as float32."""
        chosen = self._drawn(len(features), n_images, rng)
        return np.hstack([features.descriptors[chosen].astype(np.float32), features.locations[chosen]])

    def _learn(self, samples: list[np.ndarray]) -> State:
        rows = np.concatenate(samples)
        descriptors, locations = rows[:, :-2], rows[:, -2:]
        projection = principal_components(descriptors, self.n_components, position=self.position)
        points = projection.points(LocalFeatures(descriptors, locations))
        return State({}, {}).join("projection", projection.state()).join("bins", self._learn_bins(points))

    def _set_learned(self, state: State) -> None:
        self.projection_ = Projection.from_state(state.nested("projection"))
        self._set_bins(state.nested("bins"))
        self.learned_ = state

    def _encode(self, features: LocalFeatures) -> Entry:
        return SparseRows.entry(*self._encode_points(self.projection_.points(features)))


class CubesChannel(PointsChannel, ABC):
    """Points are matched in cubes of one size, then twice that, and so on, which depend on no image."""

    finest: float = option(default=2.0, doc="width of the smallest cubes.")
    n_levels: int = option(default=5, doc="how many sizes of cubes there are, each twice the one before.")

    @property
    def n_columns(self) -> int:
        return self._pyramid.n_columns

    @property
    def _pyramid(self) -> UniformPyramid:
        return UniformPyramid(self.finest, self.n_levels, random_state=self.random_state)

    def _check_options(self) -> None:
        super()._check_options()
        self._pyramid.recipe()

    def _learn_bins(self, points: np.ndarray) -> State:
        return State({}, {})

    def _set_bins(self, state: State) -> None:
        """There is nothing to take back."""

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "projection": self.projection_.digest, **self._counts_recipe()}

    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._pyramid.encode(points) if self._divided else self._pyramid.counts(points)
