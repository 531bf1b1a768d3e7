"""A spatial pyramid of histograms: those of small cells are summed to those of the quarters and of the whole image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices, Recipe
from fewsight.encodings.spatial_pyramid import SpatialPyramid, cells_of


@dataclass(frozen=True)
class HistogramPyramid:
    """Levels of 1, 4, 16, ... cells, weighted as in the spatial pyramid match; each row sums to one.

    The last column is for images whose histograms are empty: a row without any entry would say that the kernel of the image
    with itself is zero, and a learner would be certain about it.
    """

    n_levels: int = 3

    def __post_init__(self) -> None:
        SpatialPyramid(self.n_levels)

    @property
    def side(self) -> int:
        """Cells along each side of the finest level."""
        return 2 ** (self.n_levels - 1)

    def n_columns(self, n_bins: int) -> int:
        return SpatialPyramid(self.n_levels).n_cells * n_bins + 1

    def recipe(self) -> Recipe:
        return {"kind": "histogram_pyramid", "version": 1, "n_levels": self.n_levels}

    def encode(
        self, histograms: npt.NDArray[np.floating[Any]], locations: npt.NDArray[np.float32]
    ) -> tuple[Indices, Array]:
        """Columns (ascending) and values of one image's row: level by level, cell by cell, bin by bin."""
        total = histograms.sum(dtype=np.float64)
        if not total > 0:
            return np.array([self.n_columns(histograms.shape[1]) - 1]), np.ones(1)
        weights = SpatialPyramid(self.n_levels).level_weights / total
        levels = [_summed(histograms, cells_of(locations, 2**level), 4**level) for level in range(self.n_levels)]
        row = np.concatenate([weight * sums.ravel() for weight, sums in zip(weights, levels, strict=True)])
        columns = np.flatnonzero(row)
        return columns, row[columns]


def _summed(histograms: npt.NDArray[np.floating[Any]], cells: Indices, n_cells: int) -> Array:
    sums = np.zeros((n_cells, histograms.shape[1]))
    np.add.at(sums, cells, histograms)
    return sums
