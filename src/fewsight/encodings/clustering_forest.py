"""Visual words from a forest: the leaves of extremely randomised trees. [Moosmann2006; Geurts2006]

A descriptor falls from the root of each tree to one of its leaves, by comparing one of its numbers with a threshold at every
node: a dozen comparisons instead of a distance to every word. With labels, the trees are grown to tell the classes of the
images apart, so that the words are finer where that matters; what a tree predicts is not used. Without labels, they are
grown to bring alike descriptors together. Either way a node takes the best of a few random comparisons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State

MAX_WORDS = 65_536  # of a forest
MAX_DEPTH = 100  # of a tree
LEAF = -1  # instead of a child
CANDIDATES = 20  # random comparisons, of which the best becomes a node
DIRECTIONS = 16  # along which it is measured how alike descriptors are


@dataclass(frozen=True)
class ClusteringForest:
    """All trees in one list of nodes, a parent before its children. A descriptor goes left where it is <= the threshold.

    `roots` (n_trees,); `features`, `thresholds`, `lefts` and `rights` (n_nodes,), where a leaf has -1 for both children.
    The leaves are the words, numbered in the order in which they are listed.
    """

    roots: npt.NDArray[np.int32]
    features: npt.NDArray[np.int32]
    thresholds: npt.NDArray[np.float64]
    lefts: npt.NDArray[np.int32]
    rights: npt.NDArray[np.int32]

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @cached_property
    def n_words(self) -> int:
        return int((self.lefts == LEAF).sum())

    @cached_property
    def n_features(self) -> int:
        """Numbers that a descriptor must have, at least."""
        return int(self.features[self.lefts != LEAF].max(initial=-1)) + 1

    @cached_property
    def digest(self) -> str:
        """A hash of the forest, for the keys of what was encoded with it."""
        arrays = (self.roots, self.features, self.thresholds, self.lefts, self.rights)
        return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).hexdigest()

    @cached_property
    def _words(self) -> Indices:
        """The word of each node that is a leaf."""
        return np.cumsum(self.lefts == LEAF) - 1

    def assign(self, descriptors: npt.NDArray[Any]) -> Indices:
        """The words (n, n_trees) of descriptors (n, d), one of each tree."""
        nodes = np.tile(self.roots, (len(descriptors), 1)).ravel()
        owners = np.repeat(np.arange(len(descriptors)), self.n_trees)
        falling = np.flatnonzero(self.lefts[nodes] != LEAF)
        while len(falling):
            at = nodes[falling]
            left = descriptors[owners[falling], self.features[at]] <= self.thresholds[at]
            nodes[falling] = at = np.where(left, self.lefts[at], self.rights[at])
            falling = falling[self.lefts[at] != LEAF]
        return self._words[nodes].reshape(len(descriptors), self.n_trees)

    def state(self) -> State:
        names = ("roots", "features", "thresholds", "lefts", "rights")
        return State({"kind": "clustering_forest"}, {name: getattr(self, name) for name in names})

    @classmethod
    def from_state(cls, state: State) -> ClusteringForest:
        """The forest that `state` described; an edited one is refused unless every descriptor reaches a leaf in it."""
        lefts = state.array("lefts", (None,), np.int32, least=LEAF)
        if not 0 < len(lefts) < 2 * MAX_WORDS:
            raise InvalidInput(f"ClusteringForest: there must be 1 to {2 * MAX_WORDS:,} nodes, got {len(lefts):,}.")
        features, rights = (state.array(name, lefts.shape, np.int32, least=LEAF) for name in ("features", "rights"))
        roots = state.array("roots", (None,), np.int32, least=0, most=len(lefts) - 1)
        if not len(roots):
            raise InvalidInput("ClusteringForest: there must be a root or more, got none.")
        forest = cls(roots, features, state.array("thresholds", lefts.shape, np.float64), lefts, rights)
        _check_nodes(forest)
        _check_trees(forest)
        return forest


def clustering_forest(
    descriptors: npt.NDArray[Any],
    classes: npt.NDArray[Any] | None = None,
    *,
    n_trees: int,
    n_leaves: int,
    random_state: int,
    n_jobs: int | None = None,
) -> ClusteringForest:
    """A forest that tells apart the `classes` (n,) of the descriptors (n, d); without them, one with compact leaves.

    The leaves that tell most apart are divided first, until a tree has `n_leaves`, or nothing is left to divide. The forest
    does not depend on `n_jobs`.
    """
    check_integer("clustering_forest", "n_trees", n_trees, least=1, most=1_000)
    check_integer("clustering_forest", "n_leaves", n_leaves, least=2, most=MAX_WORDS // n_trees)
    if descriptors.ndim != 2 or not descriptors.size:
        raise InvalidInput(
            f"clustering_forest: descriptors must be a matrix with at least one row, got shape {descriptors.shape}."
        )
    rng = np.random.default_rng(random_state)
    growth = {
        "n_estimators": n_trees,
        "max_leaf_nodes": n_leaves,
        "max_depth": MAX_DEPTH,
        "max_features": min(CANDIDATES, descriptors.shape[1]),
        "random_state": int(rng.integers(2**31)),
        "n_jobs": n_jobs,
    }
    grown = _compact(descriptors, rng, growth) if classes is None else _telling_apart(descriptors, classes, growth)
    return _flattened([estimator.tree_ for estimator in grown.estimators_])


class Tree(Protocol):
    """A tree of scikit-learn, as far as it is read here."""

    node_count: int
    children_left: Indices
    children_right: Indices
    feature: Indices
    threshold: Array


class GrownTree(Protocol):
    tree_: Tree


class Grown(Protocol):
    """A forest of scikit-learn."""

    estimators_: Sequence[GrownTree]


def _telling_apart(descriptors: npt.NDArray[Any], classes: npt.NDArray[Any], growth: dict[str, Any]) -> Grown:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(criterion="entropy", **growth).fit(descriptors, classes)


def _compact(descriptors: npt.NDArray[Any], rng: np.random.Generator, growth: dict[str, Any]) -> Grown:
    """The squared error of a leaf is its spread along random directions, in the mean that of the descriptors themselves."""
    from sklearn.ensemble import ExtraTreesRegressor

    directions = rng.standard_normal((descriptors.shape[1], DIRECTIONS), dtype=np.float32)
    with threadpool_limits(1):  # several threads add in any order
        along = descriptors.astype(np.float32) @ directions
    return ExtraTreesRegressor(**growth).fit(descriptors, along)


def _flattened(trees: Sequence[Tree]) -> ClusteringForest:
    """scikit-learn's trees one after the other; each lists a parent before its children."""
    counts = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(counts) - counts
    shifts = np.repeat(roots, counts)
    children = [np.concatenate([getattr(tree, side) for tree in trees]) for side in ("children_left", "children_right")]
    lefts, rights = (np.where(side == LEAF, LEAF, side + shifts).astype(np.int32) for side in children)
    features = np.concatenate([tree.feature for tree in trees])
    thresholds = np.concatenate([tree.threshold for tree in trees])
    inner = lefts != LEAF
    return ClusteringForest(
        roots.astype(np.int32),
        np.where(inner, features, 0).astype(np.int32),
        np.where(inner, thresholds, 0.0),
        lefts,
        rights,
    )


def _check_nodes(forest: ClusteringForest) -> None:
    """Each node has two children that are listed behind it, or none; each is a root or the child of one node."""
    n = len(forest.lefts)
    leaves = (forest.lefts == LEAF) & (forest.rights == LEAF)
    inner = (np.minimum(forest.lefts, forest.rights) > np.arange(n)) & (np.maximum(forest.lefts, forest.rights) < n)
    if not (leaves | inner).all() or (forest.features < 0).any():
        raise InvalidInput("ClusteringForest: a node must have two children behind it, or none, and a feature >= 0.")
    heads = np.concatenate([forest.roots, forest.lefts[inner], forest.rights[inner]])
    if not np.array_equal(np.sort(heads), np.arange(n)):
        raise InvalidInput("ClusteringForest: each node must be a root or the child of one other node.")


def _check_trees(forest: ClusteringForest) -> None:
    """As many words and comparisons as a forest of ours has at most."""
    if forest.n_words > MAX_WORDS:
        raise InvalidInput(f"ClusteringForest: there must be at most {MAX_WORDS:,} leaves, got {forest.n_words:,}.")
    depth, nodes = -1, forest.roots
    while len(nodes):
        depth += 1
        inner = nodes[forest.lefts[nodes] != LEAF]
        nodes = np.concatenate([forest.lefts[inner], forest.rights[inner]])
    if depth > MAX_DEPTH:
        raise InvalidInput(f"ClusteringForest: trees must be at most {MAX_DEPTH} comparisons deep, got {depth}.")
