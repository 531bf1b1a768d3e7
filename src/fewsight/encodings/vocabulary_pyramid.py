"""A pyramid whose bins follow the data: the nodes of a hierarchical clustering. [Kapoor2010, section 5 and 8; Grauman2006]

Level 0 is the whole space; each node is divided by k-means into `branching` children. A match counts 1 / (diameter of the
smallest common bin); a bin counts (its weight - its parent's), never negative because a child is held to be no
larger than its parent. So the intersection of two rows is the vocabulary-guided pyramid match, and a Mercer kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight._compiled.tree_descent import node_counts
from fewsight.encodings.codebook import LARGEST_VALUE, Codebook, kmeans_codebook

Points = npt.NDArray[np.float32]

MOST_CHILDREN, MOST_LEVELS = 10_000, 30
SMALLEST = 0.02  # of the diameter of the whole: smaller bins weigh no more


@dataclass(frozen=True)
class VocabularyPyramid:
    """A tree of bins: `words` (n_nodes, d), `parents` (n_nodes,), `increments` (n_nodes,) in breadth-first order.

    Node 0 is the root, its own parent. `increments` are the weights of matches: own minus parent's.
    """

    words: npt.NDArray[np.float32]
    parents: npt.NDArray[np.int64]
    increments: Array

    @property
    def n_nodes(self) -> int:
        return len(self.parents)

    @cached_property
    def digest(self) -> str:
        """A hash of the tree, for the keys of what was encoded with it."""
        return Codebook(np.column_stack([self.words, self.parents, self.increments]).astype(np.float32)).digest

    @cached_property
    def _children(self) -> tuple[Indices, Indices]:
        """Where in the second array the children of each node start (n_nodes + 1,), and the children, in order."""
        ends = np.cumsum(np.bincount(self.parents[1:], minlength=self.n_nodes))
        return np.concatenate([[0], ends]), 1 + np.argsort(self.parents[1:], kind="stable")

    def counts(self, points: Points) -> Indices:
        """How many of the points each node holds: all are in the root, each in the nearest child of a node it is in."""
        points = np.ascontiguousarray(points, dtype=np.float32)
        if points.ndim != 2 or points.shape[1] != self.words.shape[1]:
            raise InvalidInput(
                f"VocabularyPyramid: points must have {self.words.shape[1]} dimensions, as the words have, "
                f"got an array of shape {points.shape}."
            )
        return node_counts(points, np.ascontiguousarray(self.words), *self._children)

    def encode(self, points: Points) -> tuple[Indices, Array]:
        """Columns (nodes, ascending) and values of one image's row, which sums to one."""
        columns, values = self.weighted_counts(points)
        return columns, values / max(1e-300, values.sum())

    def weighted_counts(self, points: Points) -> tuple[Indices, Array]:
        """As `encode`; the row sums to what the image matches with itself."""
        values = self.counts(points) * self.increments
        columns = np.flatnonzero(values)
        return columns, values[columns]

    def state(self) -> State:
        arrays: dict[str, npt.NDArray[Any]] = {
            "words": self.words,
            "parents": self.parents,
            "increments": self.increments,
        }
        return State({"kind": "vocabulary_pyramid"}, arrays)

    @classmethod
    def from_state(cls, state: State) -> VocabularyPyramid:
        words = state.array("words", (None, None), np.float32, least=-LARGEST_VALUE, most=LARGEST_VALUE)
        n = len(words)
        if not n:
            raise InvalidInput("VocabularyPyramid: there must be a node or more, got none.")
        parents = state.array("parents", (n,), np.int64, least=0, most=n - 1)
        increments = state.array("increments", (n,), np.float64, least=0.0, most=2.0 / SMALLEST)
        if parents[0] != 0 or (parents[1:] >= np.arange(1, n)).any():
            raise InvalidInput("VocabularyPyramid: every node must come after its parent.")
        return cls(words, parents, increments)


def vocabulary_pyramid(points: Points, *, branching: int, n_levels: int, random_state: int) -> VocabularyPyramid:
    """Divide the points again and again; a node with fewer than `branching` distinct points is a leaf."""
    check_integer("vocabulary_pyramid", "branching", branching, least=2, most=MOST_CHILDREN)
    check_integer("vocabulary_pyramid", "n_levels", n_levels, least=1, most=MOST_LEVELS)
    words, parents, sizes = [points.mean(axis=0)], [0], [_diameter(points, points.mean(axis=0))]
    level = [(0, points)]
    for _ in range(n_levels - 1):
        below = []
        for node, members in level:
            if len(members) <= branching:
                continue
            codebook = kmeans_codebook(members, branching, random_state=random_state)
            nearest = codebook.assign(members)
            for place, word in enumerate(codebook.words):
                inside = members[nearest == place]
                if len(inside):
                    below.append((len(words), inside))
                    words.append(word)
                    parents.append(node)
                    sizes.append(min(_diameter(inside, word), sizes[node]))
        level = below
    return VocabularyPyramid(np.stack(words).astype(np.float32), np.array(parents), _increments(sizes, parents))


def _diameter(points: Points, centre: npt.NDArray[np.float32]) -> float:
    """Twice the distance that nine in ten points keep from the centre: one outlier does not make a bin large."""
    distances = np.linalg.norm(points - centre, axis=1)
    return 2.0 * float(np.quantile(distances, 0.9))


def _increments(sizes: list[float], parents: list[int]) -> Array:
    """Own weight minus the parent's, a weight being (root's size) / (own size); the root's is 1.

    No bin counts as smaller than SMALLEST of the root: the extent of a few equal points is rounding error, and one such bin
    would outweigh all others.
    """
    root = sizes[0] if sizes[0] > 0 else 1.0
    weights = root / np.maximum(np.array(sizes), SMALLEST * root)
    increments = weights - weights[np.array(parents)]
    increments[0] = weights[0]
    return np.maximum(increments, 0.0)
