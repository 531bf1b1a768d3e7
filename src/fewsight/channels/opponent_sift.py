"""Channel `opponent_sift`: colour SIFT, words from a clustering forest, spatial pyramid. [Rodner2010, section 4]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices, Recipe, State
from fewsight.channels.dense import WordsChannel
from fewsight.channels.option_fields import option
from fewsight.encodings import ClusteringForest, clustering_forest
from fewsight.encodings.clustering_forest import MAX_WORDS
from fewsight.features import DenseOpponentSift


class OpponentSift(WordsChannel):
    """Which small structures of which colours stand where: dense opponent-colour SIFT words in a spatial pyramid.

    The words are the leaves of extremely randomised trees, grown on the training images.
    """

    name: ClassVar[str] = "opponent_sift"
    typical_numbers: ClassVar[int] = 11_000

    n_trees: int = option(default=10, doc="trees of the forest; each gives every local feature one word.")
    n_leaves: int = option(default=150, doc="words of each tree.")
    supervised: bool = option(
        default=False,
        doc="whether the trees are grown to tell the classes of the training images apart, as in [Moosmann2006]. Images without "
        "a label then contribute nothing. Otherwise, and with fewer than two classes, the trees bring alike features together.",
    )
    scales: tuple[float, ...] = (1.0, 2.0)
    contrast: float = option(
        default=1.0,
        doc="mean gradient at which a colour's descriptor has half its length; what is fainter is mostly noise.",
    )

    @property
    def _vocabulary(self) -> ClusteringForest:
        return self.forest_

    @property
    def _descriptor(self) -> DenseOpponentSift:
        return DenseOpponentSift(step=self.step, patch=self.patch, scales=self.scales, contrast=self.contrast)

    @property
    def _uses_labels(self) -> bool:
        return self.supervised

    def _learn_recipe(self) -> Recipe:
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
        asked, width = self.forest_.n_features, self._descriptor.width
        if asked > width:
            raise InvalidInput(f"OpponentSift: a descriptor has {width} numbers, got a forest that asks for {asked}.")
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {**self._pyramid.recipe(), "forest": self.forest_.digest}
