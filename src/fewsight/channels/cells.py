"""What the channels on whole-image histograms share: a grid of cells, summed up to a pyramid, compared by chi-square."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from fewsight._base.checks import check_integer, check_number
from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.types import LocalFeatures, Recipe, Sparse, State
from fewsight._compiled import chi_square
from fewsight.channels.pixel_channel import Descriptor, PixelChannel, PyramidLevels
from fewsight.encodings import HistogramPyramid
from fewsight.kernels import ExponentialChiSquare, Kernel

MOST_ROWS = 500  # training images that the scale is learned from, about
MOST_COLUMNS = 10_000_000  # a row, laid out, takes 80 MB
LEAST_SCALE, MOST_SCALE = 1e-9, 2.0  # rows that sum to one are no farther apart than 2


class CellDescriptor(Descriptor, Protocol):
    """A histogram for each cell of a grid, at the centres of the cells."""

    @property
    def n_bins(self) -> int:
        """Length of a histogram."""


class CellsChannel(PyramidLevels, PixelChannel, ABC):
    """Histograms of the finest cells in, a pyramid of them out. Its local features are these histograms at the cells' centres.

    Rows are compared by the exponential chi-square kernel. All that is learned is the kernel's scale: the mean chi-square
    distance of two training images. [Zhang2007]
    """

    @property
    @abstractmethod
    def _descriptor(self) -> CellDescriptor:
        """Made of checked options; its cells are those of the finest level."""

    @property
    def kernel(self) -> Kernel:
        self._check_fitted()
        return ExponentialChiSquare(1 / self.scale_)

    @property
    def n_columns(self) -> int:
        return self._pyramid.n_columns(self._descriptor.n_bins)

    @property
    def _descriptor_width(self) -> int:
        return self._descriptor.n_bins

    @property
    def _pyramid(self) -> HistogramPyramid:
        return HistogramPyramid(self.n_levels)

    def _feature_recipe(self) -> Recipe:
        check_integer(self, "the number of columns (bins x cells)", self.n_columns, least=1, most=MOST_COLUMNS)
        return super()._feature_recipe()

    def _learn_recipe(self) -> Recipe:
        drawn = {"most": MOST_ROWS, "random_state": self.random_state}
        return {"kind": "chi_square_scale", "version": 1, **drawn, "pyramid": self._pyramid.recipe()}

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        """Columns and values (2, k) of the image's row, or nothing: of many images only some are drawn."""
        return np.stack(self._row(features)) if rng.random() * n_images < MOST_ROWS else np.empty((2, 0))

    def _learn(self, samples: list[np.ndarray]) -> State:
        rows = [SparseRows.entry(columns, values) for columns, values in samples if len(columns)]
        return State({"scale": _mean_distance(SparseRows.stack(rows, self.n_columns).matrix)}, {})

    def _set_learned(self, state: State) -> None:
        self.scale_ = check_number(self, "scale", state.header["scale"], least=LEAST_SCALE, most=MOST_SCALE)
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return self._pyramid.recipe()

    def _encode(self, features: LocalFeatures) -> Entry:
        return SparseRows.entry(*self._row(features))

    def _row(self, features: LocalFeatures) -> tuple[np.ndarray, np.ndarray]:
        return self._pyramid.encode(features.descriptors, features.locations)


def _mean_distance(rows: Sparse) -> float:
    """The mean chi-square distance of two different rows; 1 where there are no two, or they are all alike."""
    n = rows.shape[0]
    mean = float(chi_square.distances(rows).sum()) / max(1, n * (n - 1))
    return mean if mean > LEAST_SCALE else 1.0
