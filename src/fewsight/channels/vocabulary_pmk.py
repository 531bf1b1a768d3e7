"""Channel `vocabulary_pmk`: dense SIFT and its position, pyramid match with bins that follow the data. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Recipe, State
from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.option_fields import option
from fewsight.channels.points import PointsChannel
from fewsight.encodings import VocabularyPyramid, vocabulary_pyramid
from fewsight.encodings.vocabulary_pyramid import MOST_CHILDREN, MOST_LEVELS


class VocabularyPmk(PointsChannel, DenseSiftChannel):
    """Which small structures find a partner nearby: a pyramid match of dense SIFT and position, in bins that follow the data."""

    name: ClassVar[str] = "vocabulary_pmk"
    typical_numbers: ClassVar[int] = 500

    branching: int = option(default=10, doc="children of a node of the tree of bins.")
    n_levels: int = option(default=4, doc="levels of the tree of bins.")

    @property
    def n_columns(self) -> int:
        return self.pyramid_.n_nodes

    def _learn_recipe(self) -> Recipe:
        return {
            **super()._learn_recipe(),
            "branching": check_integer(self, "branching", self.branching, least=2, most=MOST_CHILDREN),
            "n_levels": check_integer(self, "n_levels", self.n_levels, least=1, most=MOST_LEVELS),
        }

    def _learn_bins(self, points: np.ndarray) -> State:
        return vocabulary_pyramid(
            points, branching=self.branching, n_levels=self.n_levels, random_state=self.random_state
        ).state()

    def _set_bins(self, state: State) -> None:
        self.pyramid_ = VocabularyPyramid.from_state(state)

    def _encode_recipe(self) -> Recipe:
        return {
            "kind": "vocabulary_pyramid",
            "version": 1,
            "bins": self.pyramid_.digest,
            "projection": self.projection_.digest,
            **self._counts_recipe(),
        }

    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.pyramid_.encode(points) if self._divided else self.pyramid_.weighted_counts(points)
