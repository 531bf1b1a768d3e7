"""Options that several kinds of channels have, with the checks that belong to them."""

from __future__ import annotations

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Indices
from fewsight.channels.option_fields import Options, option

LARGEST_SIDE = 5_000  # pixels of the working resolution; also of an image that a scale below 1 enlarges


class WorkingResolution(Options):
    """For channels that look at pixels."""

    longest_side: int = option(
        default=300, doc="images are made smaller, never larger, so that this many pixels are their longest side."
    )

    @property
    def _working_side(self) -> int:
        return check_integer(self, "longest_side", self.longest_side, least=16, most=LARGEST_SIDE)


class PyramidLevels(Options):
    """For channels that say where in the image something is."""

    n_levels: int = option(
        default=3,
        doc="levels of the pyramid: 3 means the whole image, its quarters and its sixteenths; 4 its sixty-fourths as well.",
    )


class DescriptorSample(Options):
    """For channels that learn from descriptors of the training images."""

    n_descriptors: int = option(default=100_000, doc="descriptors drawn from the training images to learn from.")

    def _drawn(self, n: int, n_images: int, rng: np.random.Generator) -> Indices:
        """Which of its n descriptors one of `n_images` images contributes, ascending."""
        share = max(1, self.n_descriptors // n_images)
        return np.sort(rng.permutation(n)[:share])
