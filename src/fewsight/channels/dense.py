"""What the channels on dense SIFT share: they read the same cached local features."""

from __future__ import annotations

from abc import ABC

from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, Recipe
from fewsight.channels.base import Channel
from fewsight.channels.option_fields import option
from fewsight.channels.shared_options import LARGEST_SIDE, DescriptorSample, WorkingResolution
from fewsight.features import DenseSift
from fewsight.images import Image
from fewsight.kernels import HistogramIntersection, Kernel

MOST_DESCRIPTORS = 1_000_000  # of an image: 128 megabytes
MOST_WORK = 10_000_000_000  # pixels that the descriptors of an image look at: a minute or two


class DenseSiftChannel(WorkingResolution, DescriptorSample, Channel, ABC):
    """Dense SIFT in, rows compared by histogram intersection out."""

    step: float = option(default=8, doc="distance of two descriptors of the grid, in pixels of the working resolution.")
    patch: int = option(default=16, doc="side of the square that a descriptor of scale 1 covers, in the same pixels.")
    scales: tuple[float, ...] = option(
        default=(1.0, 1.5, 2.0), doc="the squares are larger by each of these, all of them on a grid of the same step."
    )
    contrast: float = option(
        default=0.0, doc="a square whose mean gradient (grey levels of 255 per pixel) is below this counts as blank."
    )

    @property
    def kernel(self) -> Kernel:
        return HistogramIntersection()

    @property
    def _grid(self) -> DenseSift:
        return DenseSift(step=self.step, patch=self.patch, scales=self.scales, contrast=self.contrast)

    def _feature_recipe(self) -> Recipe:
        side = self._working_side
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
