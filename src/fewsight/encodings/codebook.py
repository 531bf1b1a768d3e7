"""Visual words: descriptors are told apart only by the word they are nearest to. [Kapoor2010, section 8]"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight._compiled.smallest_of_rows import smallest_of_rows

BLOCK = 16_384  # descriptors compared with all words at a time, or fewer: a few tens of megabytes
MOST_PAIRS = 2**24  # of descriptors and words
LARGEST_VALUE = 1e12  # in a word, so that its square is one that 32 bits hold


@dataclass(frozen=True)
class Codebook:
    """Words (n_words, d) in the space of the descriptors."""

    words: npt.NDArray[np.float32]

    @property
    def n_words(self) -> int:
        return len(self.words)

    @cached_property
    def digest(self) -> str:
        """A hash of the words, for the keys of what was encoded with them."""
        return hashlib.blake2b(np.ascontiguousarray(self.words).tobytes(), digest_size=16).hexdigest()

    def assign(self, descriptors: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The nearest word of each descriptor: the largest x.w - |w|^2 / 2."""
        half_norms = 0.5 * np.einsum("ij,ij->i", self.words, self.words)
        block = min(BLOCK, max(1, MOST_PAIRS // self.n_words))
        blocks = [
            (descriptors[start : start + block].astype(np.float32) @ self.words.T - half_norms).argmax(axis=1)
            for start in range(0, len(descriptors), block)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0, np.intp)

    def nearest(
        self, descriptors: npt.NDArray[Any], count: int
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
        """The `count` nearest words of each descriptor (n, count), nearest first, and the squared distances to them."""
        count = min(count, self.n_words)
        norms = np.einsum("ij,ij->i", self.words, self.words)
        block = min(BLOCK, max(1, MOST_PAIRS // self.n_words))
        words, squares = [np.empty((0, count), np.intp)], [np.empty((0, count), np.float32)]
        for start in range(0, len(descriptors), block):
            rows = descriptors[start : start + block].astype(np.float32)
            apart = norms - 2 * (rows @ self.words.T) + np.einsum("ij,ij->i", rows, rows)[:, None]
            nearest, apart = smallest_of_rows(apart, count)
            words.append(nearest)
            squares.append(np.maximum(apart, 0))
        return np.concatenate(words), np.concatenate(squares)

    def state(self) -> State:
        return State({"kind": "codebook"}, {"words": self.words})

    @classmethod
    def from_state(cls, state: State) -> Codebook:
        words = state.array("words", (None, None), np.float32, least=-LARGEST_VALUE, most=LARGEST_VALUE)
        if not len(words):
            raise InvalidInput("Codebook: words must be a matrix of words x dimensions with a row or more, got none.")
        return cls(words)


def kmeans_codebook(descriptors: npt.NDArray[Any], n_words: int, *, random_state: int, max_iter: int = 20) -> Codebook:
    """Cluster centres of the descriptors; with fewer distinct descriptors than words, the distinct ones themselves."""
    check_integer("kmeans_codebook", "n_words", n_words, least=1)
    if descriptors.ndim != 2 or not len(descriptors):
        raise InvalidInput(
            f"kmeans_codebook: descriptors must be a matrix with at least one row, got shape {descriptors.shape}."
        )
    distinct = np.unique(descriptors, axis=0)
    if len(distinct) <= n_words:
        return Codebook(distinct.astype(np.float32))
    from sklearn.cluster import KMeans

    means = KMeans(n_words, n_init=1, init="random", max_iter=max_iter, random_state=random_state)
    with threadpool_limits(1):  # several threads add in any order: the words would differ from run to run
        means.fit(descriptors.astype(np.float32))
    return Codebook(means.cluster_centers_.astype(np.float32))


def random_codebook(descriptors: npt.NDArray[Any], n_words: int, rng: np.random.Generator) -> Codebook:
    """Descriptors drawn at random, no two alike; with fewer distinct descriptors than words, all of them."""
    if descriptors.ndim != 2 or not len(descriptors):
        raise InvalidInput(
            f"random_codebook: descriptors must be a matrix with at least one row, got shape {descriptors.shape}."
        )
    drawn = descriptors[rng.permutation(len(descriptors))[: 2 * n_words]]  # some may be alike
    distinct = np.unique(drawn, axis=0)
    if len(distinct) < n_words:
        distinct = np.unique(descriptors, axis=0)
    kept = np.sort(rng.permutation(len(distinct))[:n_words])
    return Codebook(distinct[kept].astype(np.float32))
