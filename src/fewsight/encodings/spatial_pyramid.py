"""The spatial pyramid: a histogram of words for the whole image, its quarters, sixteenths, ... [Lazebnik2006]

Histogram intersection of two such rows is the spatial pyramid match: the level weights are those of the pyramid match kernel,
each finer match counting twice a coarser one that is not finer. [Kapoor2010, sections 5 and 8]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.types import Array, Indices, Recipe


@dataclass(frozen=True)
class SpatialPyramid:
    """Levels of 1, 4, 16, ... cells; each row sums to one, so that the number of local features is not a cue."""

    n_levels: int = 3

    def __post_init__(self) -> None:
        check_integer(self, "n_levels", self.n_levels, least=1, most=8)  # 21,845 cells; columns are 32-bit numbers

    @property
    def n_cells(self) -> int:
        return sum(4**level for level in range(self.n_levels))

    @property
    def level_weights(self) -> Array:
        """1/2^L for the whole image and 1/2^(L - l + 1) for level l, L being the finest; they sum to one."""
        finest = self.n_levels - 1
        return np.array([2.0 ** -(finest if level == 0 else finest - level + 1) for level in range(self.n_levels)])

    def recipe(self) -> Recipe:
        return {"kind": "spatial_pyramid", "version": 1, "n_levels": self.n_levels}

    def encode(
        self, words: npt.NDArray[np.intp], locations: npt.NDArray[np.float32], n_words: int
    ) -> tuple[Indices, Array]:
        """Columns (ascending) and values of one image's row of n_cells * n_words, cell by cell, word by word.

        Words are (n,), or (n, k) where each local feature has k of them, which then count 1 / k each.
        """
        columns, values, offset = [], [], 0
        for level, weight in enumerate(self.level_weights):
            cells = cells_of(locations, 2**level).reshape(-1, *(1,) * (words.ndim - 1))
            bins, counts = np.unique(offset + cells * n_words + words, return_counts=True)
            columns.append(bins)
            values.append(weight * counts / max(1, words.size))
            offset += 4**level * n_words
        return np.concatenate(columns), np.concatenate(values)

    def strongest(
        self, words: Indices, shares: Array, locations: npt.NDArray[np.float32], n_words: int
    ) -> tuple[Indices, Array]:
        """As `encode` with the largest share of a word in a cell in place of how often it is there: max pooling.

        Words and shares are (n, k): how much of a local feature each of its k words has. All levels count the same, and the row
        has length one.
        """
        row, offset = np.zeros(self.n_cells * n_words), 0
        for level in range(self.n_levels):
            cells = cells_of(locations, 2**level)[:, None]
            np.maximum.at(row, (offset + cells * n_words + words).ravel(), shares.ravel())
            offset += 4**level * n_words
        columns = np.flatnonzero(row)
        values = row[columns]
        return columns, values / max(float(np.linalg.norm(values)), np.finfo(np.float64).tiny)


def cells_of(locations: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.intp]:
    """Row-major cell of each location in a grid of side x side over the image."""
    column, row = np.minimum(locations * side, side - 1).astype(np.intp).T
    return row * side + column
