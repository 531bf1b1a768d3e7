"""What the channels on dense SIFT share: they read the same cached local features."""

from __future__ import annotations

from abc import ABC

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Recipe
from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import Descriptor, PixelChannel
from fewsight.channels.shared_options import LARGEST_SIDE, DescriptorSample
from fewsight.features import DenseSift
from fewsight.kernels import HistogramIntersection, Kernel

MOST_DESCRIPTORS = 1_000_000  # of an image: 128 megabytes
MOST_WORK = 10_000_000_000  # pixels that the descriptors of an image look at: a minute or two


class DenseSiftChannel(DescriptorSample, PixelChannel, ABC):
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

    @property
    def _descriptor(self) -> Descriptor:
        return self._grid

    def _feature_recipe(self) -> Recipe:
        self._check_cost(self._working_side)
        return super()._feature_recipe()

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
