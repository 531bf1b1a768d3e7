"""Channel `harris_pmk`: Harris-Affine interest points, pyramid match with uniform bins. [Kapoor2010, sections 5 and 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import PixelChannel
from fewsight.channels.points import CubesChannel
from fewsight.features import HarrisAffine


class HarrisPmk(PixelChannel, CubesChannel):
    """Which corners find a partner nearby: a pyramid match of SIFT at interest points and their position, in cubes.

    An image without corners, such as a blank one, is similar only to others without: they share a column of their own.
    """

    name: ClassVar[str] = "harris_pmk"
    typical_numbers: ClassVar[int] = 1_400

    position: float = 12.0
    n_levels: int = 3
    max_points: int = option(default=2000, doc="interest points of an image, at most; the strongest are kept.")
    threshold: float = option(
        default=1.0, doc="the weakest interest point: how much changes over one scale, in grey levels of 255."
    )
    scales: str = option(
        default="all",
        doc='"all" takes the corners of every scale; "characteristic" those whose scale the Laplacian singles out, which are '
        "fewer and return more faithfully when the view changes, but leave more of an image undescribed.",
    )
    iterations: int = option(default=8, doc="steps of the affine adaptation, at most; 0 leaves every region a circle.")
    max_stretch: float = option(default=6.0, doc="regions longer than this many times their width are dropped.")
    extent: float = option(default=18.0, doc="side of the described square, in scales of the region.")

    @property
    def _descriptor(self) -> HarrisAffine:
        return HarrisAffine(
            max_points=self.max_points,
            threshold=self.threshold,
            scales=self.scales,
            iterations=self.iterations,
            max_stretch=self.max_stretch,
            extent=self.extent,
        )

    @property
    def _descriptor_width(self) -> int:
        return self._descriptor.width

    @property
    def n_columns(self) -> int:
        return super().n_columns + 1

    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A row without any entry would say that the kernel of the image with itself is zero: a learner would be certain."""
        return super()._encode_points(points) if len(points) else (np.array([self.n_columns - 1]), np.ones(1))
