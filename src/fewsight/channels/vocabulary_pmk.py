"""Channel `vocabulary_pmk`: dense SIFT and its position, pyramid match with bins that follow the data. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Recipe, State
from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.points import PointsChannel
from fewsight.encodings import VocabularyPyramid, vocabulary_pyramid
from fewsight.encodings.vocabulary_pyramid import MOST_CHILDREN, MOST_LEVELS
from fewsight.images import FeatureCache


class VocabularyPmk(PointsChannel, DenseSiftChannel):
    """Which small structures find a partner nearby: a pyramid match of dense SIFT and position, in bins that follow the data.

    Parameters
    ----------
    n_components : dimensions that the SIFT descriptors are reduced to, each with unit variance.
    position : width of the image in the same units; 0 leaves the position out.
    branching, n_levels : of the tree of bins.
    step, patch, scales, contrast : of the dense SIFT grid, in pixels of the working resolution.
    longest_side : images are made smaller, never larger, to this many pixels.
    n_descriptors : descriptors drawn from the training images to learn the reduction and the bins from.
    random_state : seed of the draw and of the clustering.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "vocabulary_pmk"

    def __init__(
        self,
        *,
        n_components: int = 10,
        position: float = 8.0,
        branching: int = 10,
        n_levels: int = 4,
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
        self.n_components = n_components
        self.position = position
        self.branching = branching
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
        }

    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.pyramid_.encode(points)
