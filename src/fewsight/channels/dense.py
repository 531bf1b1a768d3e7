"""What the channels on dense SIFT share: they read the same cached local features."""

from __future__ import annotations

from abc import ABC

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, Recipe
from fewsight.channels.base import LARGEST_SIDE, Channel
from fewsight.features import DenseSift
from fewsight.images import Image
from fewsight.kernels import HistogramIntersection, Kernel

MOST_DESCRIPTORS = 1_000_000  # of an image: 128 megabytes
MOST_WORK = 10_000_000_000  # pixels that the descriptors of an image look at: a minute or two


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
        side = check_integer(self, "longest_side", self.longest_side, least=16, most=LARGEST_SIDE)
        self._check_cost(side)
        return {**self._grid.recipe(), "longest_side": side}

    def _check_cost(self, side: int) -> None:
        """Each option may be sensible, and all together fill the memory or take hours for one image."""
        grid = self._grid
        n_descriptors = len(grid.scales) * (side / grid.step) ** 2  # at every scale the same step, as in the image
        dear = n_descriptors > MOST_DESCRIPTORS or n_descriptors * grid.patch**2 > MOST_WORK
        if dear or side / min(grid.scales) > LARGEST_SIDE:
            raise InvalidInput(
                f"{type(self).__name__}: step, patch, scales and longest_side must together ask for less work, got "
                f"{n_descriptors:,.0f} descriptors of {grid.patch} x {grid.patch} pixels for an image of {side} x {side}."
            )

    def _describe(self, image: Image) -> LocalFeatures:
        return self._grid.describe(image.pixels(self.longest_side))
