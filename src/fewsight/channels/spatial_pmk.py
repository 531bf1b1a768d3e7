"""Channel `spatial_pmk`: dense SIFT, visual words, spatial pyramid, histogram intersection. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Recipe, State
from fewsight.channels.dense import WordsChannel
from fewsight.channels.option_fields import option
from fewsight.encodings import Codebook, kmeans_codebook


class SpatialPmk(WordsChannel):
    """Which small structures stand where: dense SIFT words in a spatial pyramid, compared by intersection."""

    name: ClassVar[str] = "spatial_pmk"
    typical_numbers: ClassVar[int] = 2_000

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
        self.codebook_ = Codebook.from_state(state)
        if self.codebook_.words.shape[1] != self._descriptor.width:
            raise InvalidInput(
                f"SpatialPmk: a codebook of SIFT words has {self._descriptor.width} columns, got {self.codebook_.words.shape[1]}."
            )
        if self.n_columns > np.iinfo(np.int32).max:
            raise InvalidInput(f"SpatialPmk: n_words times cells must be below 2^31, got {self.n_columns:,}.")
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "codebook": self.codebook_.digest}
