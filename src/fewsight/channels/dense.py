"""What the channels on dense SIFT share: they read the same cached local features."""

from __future__ import annotations

from abc import ABC

from fewsight._base.checks import check_integer
from fewsight._base.types import LocalFeatures, Recipe
from fewsight.channels.base import Channel
from fewsight.features import DenseSift
from fewsight.images import Image
from fewsight.kernels import HistogramIntersection, Kernel


class DenseSiftChannel(Channel, ABC):
    """Dense SIFT in, rows compared by histogram intersection out."""

    step: float
    patch: int
    scales: tuple[float, ...]
    contrast: float
    longest_side: int

    @property
    def kernel(self) -> Kernel:
        return HistogramIntersection()

    @property
    def _grid(self) -> DenseSift:
        return DenseSift(step=self.step, patch=self.patch, scales=self.scales, contrast=self.contrast)

    def _feature_recipe(self) -> Recipe:
        return {**self._grid.recipe(), "longest_side": check_integer(self, "longest_side", self.longest_side, least=16)}

    def _describe(self, image: Image) -> LocalFeatures:
        return self._grid.describe(image.pixels(self.longest_side))
