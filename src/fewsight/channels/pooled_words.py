"""Channel `pooled_words`: dense SIFT shared among the words around it, and the strongest share in every cell. [Liu2011]

A local feature x has the shares exp(-5 (|x - w|^2 - least) / reach) of its five nearest words w, divided by their sum. Reach is
the mean squared distance of a training descriptor to its word. A cell of the spatial pyramid has for each word the largest share
that a local feature in it has: whether a structure is there counts, not how often. Rows are compared by inner product.
"""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.types import LocalFeatures, Recipe, State
from fewsight.channels.dense import CodebookChannel
from fewsight.encodings import Codebook
from fewsight.kernels import Kernel, Linear

N_NEAREST = 5  # words that share a local feature
SHARPNESS = 5.0  # how quickly shares fall with the squared distance, in units of the reach
LEAST_REACH, MOST_REACH = 1e-6, 1e12


@final
class PooledWords(CodebookChannel):
    """Which small structures are present where, be it once or often: shared dense SIFT words, the strongest of each cell."""

    name: ClassVar[str] = "pooled_words"
    typical_numbers: ClassVar[int] = 7_500

    n_words: int = 1024
    n_descriptors: int = 60_000

    @property
    def kernel(self) -> Kernel:
        return Linear()

    def _learn_recipe(self) -> Recipe:
        return {**super()._learn_recipe(), "kind": "codebook_with_reach"}

    def _learn(self, samples: list[np.ndarray]) -> State:
        state = super()._learn(samples)
        _, squares = Codebook.from_state(state).nearest(np.concatenate(samples), 1)
        reach = max(float(squares.mean(dtype=np.float64)), LEAST_REACH)
        return State({**state.header, "reach": reach}, state.arrays)

    def _set_learned(self, state: State) -> None:
        super()._set_learned(state)
        self.reach_ = state.number("reach", least=LEAST_REACH, most=MOST_REACH)

    def _encode_recipe(self) -> Recipe:
        pooled = {"pooling": "strongest", "n_nearest": N_NEAREST, "sharpness": SHARPNESS, "reach": self.reach_}
        return {**super()._encode_recipe(), **pooled}

    def _encode(self, features: LocalFeatures) -> Entry:
        words, squares = self.codebook_.nearest(features.descriptors, N_NEAREST)
        closeness = np.exp(-SHARPNESS * (squares - squares[:, :1]).astype(np.float64) / self.reach_)
        shares = closeness / closeness.sum(axis=1, keepdims=True)
        return SparseRows.entry(*self._pyramid.strongest(words, shares, features.locations, self.codebook_.n_words))
