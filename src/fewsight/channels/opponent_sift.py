"""Channel `opponent_sift`: colour SIFT, words from a clustering forest, spatial pyramid. [Rodner2010, section 4]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices, LocalFeatures, Recipe, State
from fewsight.channels.dense import DenseSiftChannel
from fewsight.encodings import ClusteringForest, SpatialPyramid, clustering_forest
from fewsight.encodings.clustering_forest import MAX_WORDS
from fewsight.features import DenseOpponentSift
from fewsight.images import FeatureCache, Image


class OpponentSift(DenseSiftChannel):
    """Which small structures of which colours stand where: dense opponent-colour SIFT words in a spatial pyramid.

    The words are the leaves of extremely randomised trees, grown on the training images.

    Parameters
    ----------
    n_trees : trees of the forest; each gives every local feature one word.
    n_leaves : words of each tree.
    supervised : whether the trees are grown to tell the classes of the training images apart, as in [Moosmann2006]. Images
        without a label then contribute nothing. Otherwise, and with fewer than two classes, the trees bring alike features
        together.
    n_levels : levels of the pyramid; 3 means the whole image, its quarters and its sixteenths.
    step, patch, scales : of the dense SIFT grid, in pixels of the working resolution.
    contrast : mean gradient at which a colour's descriptor has half its length; what is fainter is mostly noise.
    longest_side : images are made smaller, never larger, to this many pixels.
    n_descriptors : descriptors drawn from the training images to grow the forest on.
    random_state : seed of the draw and of the trees.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described, and trees grown, at the same time, as in joblib.
    """

    name: ClassVar[str] = "opponent_sift"

    def __init__(
        self,
        *,
        n_trees: int = 10,
        n_leaves: int = 150,
        supervised: bool = False,
        n_levels: int = 3,
        step: float = 8,
        patch: int = 16,
        scales: tuple[float, ...] = (1.0, 2.0),
        contrast: float = 1.0,
        longest_side: int = 300,
        n_descriptors: int = 100_000,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.supervised = supervised
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
        return self._pyramid.n_cells * self.forest_.n_words

    @property
    def _colour_grid(self) -> DenseOpponentSift:
        return DenseOpponentSift(step=self.step, patch=self.patch, scales=self.scales, contrast=self.contrast)

    @property
    def _pyramid(self) -> SpatialPyramid:
        return SpatialPyramid(self.n_levels)

    @property
    def _uses_labels(self) -> bool:
        return self.supervised

    def _feature_recipe(self) -> Recipe:
        return {**super()._feature_recipe(), **self._colour_grid.recipe()}

    def _describe(self, image: Image) -> LocalFeatures:
        return self._colour_grid.describe(image.pixels(self.longest_side))

    def _learn_recipe(self) -> Recipe:
        _ = self._pyramid  # checks n_levels before any work is done
        if not isinstance(self.supervised, bool):
            raise InvalidInput(f"OpponentSift: supervised must be True or False, got {shown(self.supervised)}.")
        n_trees = check_integer(self, "n_trees", self.n_trees, least=1, most=1_000)
        return {
            "kind": "clustering_forest",
            "version": 1,
            "n_trees": n_trees,
            "n_leaves": check_integer(self, "n_leaves", self.n_leaves, least=2, most=MAX_WORDS // n_trees),
            "n_descriptors": check_integer(self, "n_descriptors", self.n_descriptors, least=1, most=2_000_000),
            "random_state": self.random_state,
        }

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        share = max(1, self.n_descriptors // n_images)
        return features.descriptors[np.sort(rng.permutation(len(features))[:share])]

    def _learn(self, samples: list[np.ndarray]) -> State:
        return self._grown(np.concatenate(samples), None)

    def _learn_labelled(self, samples: list[np.ndarray], groups: Indices) -> State:
        if len(np.unique(groups[groups >= 0])) < 2:
            return self._learn(samples)
        labelled = [(sample, group) for sample, group in zip(samples, groups, strict=True) if group >= 0]
        classes = np.repeat([group for _, group in labelled], [len(sample) for sample, _ in labelled])
        return self._grown(np.concatenate([sample for sample, _ in labelled]), classes)

    def _grown(self, descriptors: np.ndarray, classes: Indices | None) -> State:
        return clustering_forest(
            descriptors,
            classes,
            n_trees=self.n_trees,
            n_leaves=self.n_leaves,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).state()

    def _set_learned(self, state: State) -> None:
        self.forest_ = ClusteringForest.from_state(state)
        if self.forest_.n_features > 384:
            raise InvalidInput(
                f"OpponentSift: a descriptor has 384 numbers, got a forest that asks for {self.forest_.n_features}."
            )
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "forest": self.forest_.digest}

    def _encode(self, features: LocalFeatures) -> tuple[np.ndarray, np.ndarray]:
        words = self.forest_.assign(features.descriptors)
        return self._pyramid.encode(words, features.locations, self.forest_.n_words)
