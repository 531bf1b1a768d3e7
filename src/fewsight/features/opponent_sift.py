"""SIFT of the three opponent colours on a regular grid. [Rodner2010, section 4; Sande2010]

The opponent colours are red against green, O1 = (R - G) / sqrt 2, yellow against blue, O2 = (R + G - 2 B) / sqrt 6, and the
intensity, O3 = (R + G + B) / sqrt 3. A descriptor of each plane is made to have unit length, so the factors in front of
them are free: here each plane fills the bytes that OpenCV's SIFT takes, and none is clipped.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_number
from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.features.dense_sift import DenseSift

# Rows give O1, O2 and O3 of (R, G, B) in [0, 1], up to an offset: the first two lie in [-127, 127], the third in [0, 255].
OPPONENT = np.array([[127, -127, 0], [63.5, 63.5, -127], [85, 85, 85]], dtype=np.float32)
OFFSETS = np.array([128, 128, 0], dtype=np.float32)


@dataclass(frozen=True)
class DenseOpponentSift:
    """Every `step` pixels three descriptors of a square patch side by side, one for each opponent colour.

    Where a colour hardly changes over a patch, what SIFT blows up to full length is rounding and compression. So a plane whose
    mean gradient is g (of its 255 levels, per pixel) gets g / (g + contrast) of the length: half of it where g is the
    contrast, nothing where there is no colour. With a contrast of 0 every descriptor has full length.
    """

    width: ClassVar[int] = 384  # numbers of a descriptor

    step: float = 8
    patch: int = 16
    scales: tuple[float, ...] = (1.0, 2.0)
    contrast: float = 1.0

    def __post_init__(self) -> None:
        _ = self._grid  # checks the other options
        check_number(self, "contrast", self.contrast, least=0, most=255)

    @property
    def _grid(self) -> DenseSift:
        return DenseSift(step=self.step, patch=self.patch, scales=self.scales)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "opponent_sift", "version": 1, **asdict(self), "scales": list(self.scales)}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """Descriptors (n, 384) as bytes: 128 numbers of O1, of O2 and of O3; where they stand is as in `DenseSift`."""
        planes = [self._describe_plane(plane) for plane in opponent_planes(pixels)]
        return LocalFeatures(np.hstack([plane.descriptors for plane in planes]), planes[0].locations)

    def _describe_plane(self, plane: npt.NDArray[np.uint8]) -> LocalFeatures:
        features = self._grid.describe_plane(plane)
        if self.contrast == 0:
            return features
        gradients = self._grid.mean_gradients(plane)[:, None]
        shorter = features.descriptors * (gradients / (gradients + np.float32(self.contrast)))
        return LocalFeatures(np.rint(shorter).astype(np.uint8), features.locations)


def opponent_planes(pixels: Pixels) -> npt.NDArray[np.uint8]:
    """O1, O2 and O3 as bytes (3, h, w); the first two are 128 where there is no colour."""
    planes = pixels @ OPPONENT.T + OFFSETS
    return np.ascontiguousarray(np.rint(planes).astype(np.uint8).transpose(2, 0, 1))
