"""Channel `spatial_pmk`: dense SIFT, visual words, spatial pyramid, histogram intersection. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, Recipe, State
from fewsight.channels.dense import DenseSiftChannel
from fewsight.encodings import Codebook, SpatialPyramid, kmeans_codebook
from fewsight.images import FeatureCache


class SpatialPmk(DenseSiftChannel):
    """Which small structures stand where: dense SIFT words in a spatial pyramid, compared by intersection.

    Parameters
    ----------
    n_words : words of the codebook.
    n_levels : levels of the pyramid; 3 means the whole image, its quarters and its sixteenths.
    step, patch, scales, contrast : of the dense SIFT grid, in pixels of the working resolution.
    longest_side : images are made smaller, never larger, to this many pixels.
    n_descriptors : descriptors drawn from the training images to learn the words from.
    random_state : seed of the draw and of the clustering.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "spatial_pmk"

    def __init__(
        self,
        *,
        n_words: int = 400,
        n_levels: int = 3,
        step: float = 8,
        patch: int = 16,
        scales: tuple[float, ...] = (1.0, 1.5, 2.0),
        contrast: float = 0.0,
        longest_side: int = 300,
        n_descriptors: int = 100_000,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_words = n_words
        self.n_levels = n_levels
        self.step = step
        self.patch = patch
        self.scales = scales
        self.contrast = contrast
        self.longest_side = longest_side
        self.n_descriptors = n_descriptors
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs

    @property
    def n_columns(self) -> int:
        return self._pyramid.n_cells * self.codebook_.n_words

    @property
    def _pyramid(self) -> SpatialPyramid:
        return SpatialPyramid(self.n_levels)

    def _check_options(self) -> None:
        super()._check_options()
        self._pyramid.recipe()

    def _learn_recipe(self) -> Recipe:
        return {
            "kind": "kmeans_codebook",
            "version": 1,
            "n_words": check_integer(self, "n_words", self.n_words, least=1, most=50_000),
            "n_descriptors": check_integer(self, "n_descriptors", self.n_descriptors, least=1),
            "random_state": self.random_state,
        }

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        share = max(1, self.n_descriptors // n_images)
        return features.descriptors[np.sort(rng.permutation(len(features))[:share])]

    def _learn(self, samples: list[np.ndarray]) -> State:
        return kmeans_codebook(np.concatenate(samples), self.n_words, random_state=self.random_state).state()

    def _set_learned(self, state: State) -> None:
        self.codebook_ = Codebook.from_state(state)
        if self.codebook_.words.shape[1] != 128:
            raise InvalidInput(
                f"SpatialPmk: a codebook of SIFT words has 128 columns, got {self.codebook_.words.shape[1]}."
            )
        if self.n_columns > np.iinfo(np.int32).max:
            raise InvalidInput(f"SpatialPmk: n_words times cells must be below 2^31, got {self.n_columns:,}.")
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "codebook": self.codebook_.digest}

    def _encode(self, features: LocalFeatures) -> tuple[np.ndarray, np.ndarray]:
        words = self.codebook_.assign(features.descriptors)
        return self._pyramid.encode(words, features.locations, self.codebook_.n_words)
