"""Interest points of one of four detectors, each with the patch around it: small, grey, of one brightness and contrast.

[Holub2008, sections 2.1 and 2.2]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_choice, check_integer, check_number
from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.features.blobs import gaussian_differences, hessian_blobs
from fewsight.features.corners import Regions, ScaleSpace, harris_corners, lattice
from fewsight.features.saliency import salient_circles

SIDE = 11  # samples along the side of a patch
TALLEST = 4  # widths that an image may be high; a higher one is made less wide
FLAT = 1.0  # grey levels: standard deviation below which a patch counts as less than full contrast

# Half the side of a patch in the scales of each detector's regions, so that a blob fills about half of its patch.
EXTENTS = {"kb": 1.0, "dog": 3.0, "harris": 3.0, "hessian": 3.0}
WEAKEST = {"dog": 0.5, "harris": 1.0, "hessian": 1.0}  # in grey levels


@dataclass(frozen=True)
class InterestPatches:
    """At most `max_points` interest points, the strongest, which keep their distance from each other; and their patches.

    Parameters
    ----------
    detector : "kb" (circles of unpredictable grey levels), "dog" (differences of Gaussians), "harris" (corners) or "hessian"
        (blobs and saddles of one sign).
    max_points : the strongest are kept.
    width : width in pixels that the image is scaled to, up or down.
    smallest : the smallest half side of a patch, in pixels; what is found at finer scales is left out.
    spacing : a point nearer to a stronger one than this many half sides of the smaller patch is left out; 0 leaves out none.
    """

    descriptor_width: ClassVar[int] = SIDE * SIDE  # numbers of a patch

    detector: str = "kb"
    max_points: int = 60
    width: int = 250
    smallest: float = 4.0
    spacing: float = 0.7

    def __post_init__(self) -> None:
        check_choice(self, "detector", self.detector, tuple(EXTENTS))
        check_integer(self, "max_points", self.max_points, least=1, most=1_000)
        check_integer(self, "width", self.width, least=16, most=2_000)
        check_number(self, "smallest", self.smallest, least=0, most=1_000)
        check_number(self, "spacing", self.spacing, least=0, most=10)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "interest_patches", "version": 1, **asdict(self)}

    def regions(self, pixels: Pixels) -> Regions:
        """The interest points, strongest first, in pixels of the image at the working width; scales are half sides of patches."""
        return self._regions_in(ScaleSpace(at_width(pixels, self.width)))

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """Patches (n, 121) of mean zero and standard deviation one, strongest point first; none for a blank image."""
        resized = at_width(pixels, self.width)
        space = ScaleSpace(resized)
        regions = self._regions_in(space)
        step = 2.0 / (SIDE - 1)
        patches = space.sample(regions, lattice(SIDE, step), sharpness=0.7 * step * regions.scales)
        height, width = resized.shape[:2]
        locations = np.clip((regions.centres + 0.5) / (width, height), 0.0, 1.0)
        return LocalFeatures(
            normalised(patches),
            locations.astype(np.float32),
            scales=(regions.scales / width).astype(np.float32),
            strengths=regions.strengths.astype(np.float32),
            aspect=width / height,
        )

    def _regions_in(self, space: ScaleSpace) -> Regions:
        found = _DETECTORS[self.detector](space)
        found = replace(found, scales=EXTENTS[self.detector] * found.scales)
        found = found.select(found.scales >= self.smallest)
        strongest = np.argsort(-found.strengths, kind="stable")
        return cleared(found.select(strongest), self.max_points, self.spacing)


_DETECTORS: dict[str, Callable[[ScaleSpace], Regions]] = {
    "kb": lambda space: salient_circles(space.grey),
    "dog": lambda space: gaussian_differences(space, threshold=WEAKEST["dog"]),
    "harris": lambda space: harris_corners(space, threshold=WEAKEST["harris"], characteristic=False),
    "hessian": lambda space: hessian_blobs(space, threshold=WEAKEST["hessian"]),
}


def at_width(pixels: Pixels, width: int) -> Pixels:
    """The image made `width` pixels wide, smaller or larger, its proportions kept; one above TALLEST widths is less wide."""
    height, present = pixels.shape[:2]
    factor = min(width / present, TALLEST * width / height)
    size = max(1, round(present * factor)), max(1, round(height * factor))
    if size == (present, height):
        return pixels
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.clip(cv2.resize(np.ascontiguousarray(pixels), size, interpolation=way), 0.0, 1.0)


def cleared(regions: Regions, most: int, spacing: float) -> Regions:
    """The first `most` of the regions that are no nearer to a kept one than `spacing` scales of the smaller of the two."""
    left = np.arange(len(regions))
    kept: list[int] = []
    while len(left) and len(kept) < most:
        first = left[0]
        kept.append(int(first))
        left = left[1:]
        apart = ((regions.centres[left] - regions.centres[first]) ** 2).sum(axis=1)
        left = left[apart >= (spacing * np.minimum(regions.scales[left], regions.scales[first])) ** 2]
    return regions.select(np.array(kept, np.intp))


def normalised(patches: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Patches (n, k) minus their mean, divided by their standard deviation; by FLAT grey levels where there is less contrast."""
    centred = patches - patches.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return centred / np.maximum(spread, np.float32(FLAT))
