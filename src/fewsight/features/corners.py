"""Harris corners at the scales of a Gaussian scale space, the Laplacian choosing among the scales. [Mikolajczyk2004]"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices, Pixels

LEVELS = 4  # of an octave: each scale is 2^(1/4) times the one before
HALF = LEVELS // 2  # half an octave: from the scale of the derivatives to that of their integration
FINEST = 1.0  # scale of the finest derivatives, in pixels
SHARPEST = 0.5  # scale at which a camera is held to sample
SMALLEST = 12  # pixels of the shorter side of the last octave
HARRIS = 0.05  # what edges are charged: det(mu) - HARRIS * trace(mu)^2

Picture = npt.NDArray[np.float32]  # (h, w), grey levels of 255
Samples = npt.NDArray[np.float32]  # (n, k), the same k places around each of n points
Peaks = tuple[Indices, ...]  # rows and columns


@dataclass(frozen=True)
class Regions:
    """Ellipses in an image: a point u of the unit circle is at centre + scale * shape @ u.

    `centres` (n, 2) in pixels, x before y; `scales` (n,), of integration; `shapes` (n, 2, 2), symmetric, of determinant one;
    `strengths` (n,), of the corners, in grey levels of 255 that change over one scale of the derivatives.
    """

    centres: Array
    scales: Array
    shapes: Array
    strengths: Array

    @classmethod
    def circles(cls, centres: Array, scales: Array, strengths: Array) -> Regions:
        """Regions that are not stretched in any direction."""
        return cls(centres, scales, np.tile(np.eye(2), (len(scales), 1, 1)), strengths)

    def __len__(self) -> int:
        return len(self.centres)

    def select(self, chosen: Indices | npt.NDArray[np.bool_]) -> Regions:
        return Regions(self.centres[chosen], self.scales[chosen], self.shapes[chosen], self.strengths[chosen])


class ScaleSpace:
    """An image at all scales: `octaves` of pictures, each octave at half the resolution of the one before; `grey`: as it is."""

    def __init__(self, pixels: Pixels) -> None:
        grey = self.grey = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY) * np.float32(255)
        self.octaves = [_octave(_blurred(grey, SHARPEST, FINEST))]
        while min(self.octaves[-1][0].shape) >= 2 * SMALLEST:
            self.octaves.append(_octave(np.ascontiguousarray(self.octaves[-1][LEVELS][::2, ::2])))
        self._pictures = [grey, *(picture for octave in self.octaves for picture in octave[:LEVELS])]
        levels = np.arange(len(self._pictures) - 1)
        self._scales = np.append(SHARPEST, FINEST * 2.0 ** (levels / LEVELS))
        self._shrunk = np.append(1.0, 2.0 ** (levels // LEVELS))

    def sample(self, regions: Regions, grid: npt.NDArray[np.float32], *, sharpness: Array) -> Samples:
        """Grey levels at the places `grid` (2, k) in the frame of each region, from the picture whose scale comes nearest to
        `sharpness` (n,) from below. Outside the image its edge goes on."""
        level = np.maximum(np.searchsorted(self._scales, sharpness, side="right") - 1, 0)
        shrunk = self._shrunk[level]
        frames = (regions.shapes * (regions.scales / shrunk)[:, None, None]).astype(np.float32)
        centres = (regions.centres / shrunk[:, None]).astype(np.float32)
        x, y = (frames[:, axis] @ grid + centres[:, axis, None] for axis in (0, 1))
        samples = np.empty_like(x)
        for number in np.unique(level):
            here = np.flatnonzero(level == number)
            picture = self._pictures[number]
            samples[here] = cv2.remap(picture, x[here], y[here], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return samples


def harris_corners(space: ScaleSpace, *, threshold: float, characteristic: bool) -> Regions:
    """Circles around the corners stronger than `threshold`, from the finest scale to the coarsest, every half octave.

    With `characteristic`, only those where the Laplacian is larger than half an octave below and above, at any scale.
    """
    parts = [
        part
        for octave, pictures in enumerate(space.octaves)
        for part in _corners(pictures, 2.0**octave, threshold, characteristic)
    ]
    return Regions(
        np.concatenate([part.centres for part in parts]),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.shapes for part in parts]),
        np.concatenate([part.strengths for part in parts]),
    )


@functools.lru_cache(maxsize=8)
def lattice(side: int, step: float) -> npt.NDArray[np.float32]:
    """A square lattice (2, side * side) about zero, x before y, row by row."""
    ticks = (np.arange(side) - (side - 1) / 2) * step
    y, x = np.meshgrid(ticks, ticks, indexing="ij")
    return np.stack([x.ravel(), y.ravel()]).astype(np.float32)


def _blurred(picture: Picture, present: float, wanted: float) -> Picture:
    return cv2.GaussianBlur(picture, (0, 0), math.sqrt(wanted**2 - present**2))


def _octave(base: Picture) -> list[Picture]:
    """Pictures from the scale FINEST of this resolution on, as far as the Laplacians of its corners reach."""
    pictures = [base]
    for level in range(1, LEVELS + 2 * HALF):
        present, wanted = (FINEST * 2.0 ** (k / LEVELS) for k in (level - 1, level))
        pictures.append(_blurred(pictures[-1], present, wanted))
    return pictures


def _corners(pictures: list[Picture], pixel: float, threshold: float, characteristic: bool) -> list[Regions]:
    """Corners of each level of an octave, whose pixels are `pixel` wide."""
    laplacians = [np.abs(cv2.Laplacian(picture, cv2.CV_32F, ksize=1)) for picture in pictures if characteristic]
    found = []
    for level in range(0, LEVELS, 1 if characteristic else HALF):
        derivation = FINEST * 2.0 ** (level / LEVELS)
        cornerness = _cornerness(pictures[level], derivation)
        peaks = peaks_above(cornerness, threshold**4)
        offsets = np.zeros(len(peaks[0]))
        if characteristic:
            peaks, offsets = _characteristic(peaks, laplacians[level : level + 2 * HALF + 1 : HALF])
        scales = math.sqrt(2.0) * derivation * pixel * 2.0 ** (offsets / 2)
        strengths = cornerness[peaks].astype(np.float64) ** 0.25
        found.append(Regions.circles(refined_centres(cornerness, peaks) * pixel, scales, strengths))
    return found


def _cornerness(picture: Picture, derivation: float) -> Picture:
    """det(mu) - HARRIS * trace(mu)^2, of derivatives in grey levels per scale."""
    across = cv2.Sobel(picture, cv2.CV_32F, 1, 0, ksize=1, scale=derivation / 2)
    down = cv2.Sobel(picture, cv2.CV_32F, 0, 1, ksize=1, scale=derivation / 2)
    products = (across * across, across * down, down * down)
    xx, xy, yy = (cv2.GaussianBlur(product, (0, 0), derivation * math.sqrt(2.0)) for product in products)
    return xx * yy - xy * xy - np.float32(HARRIS) * (xx + yy) ** 2


def peaks_above(cornerness: Picture, least: float) -> Peaks:
    """Rows and columns of what is above `least` and not below any of its eight neighbours."""
    highest = cv2.dilate(cornerness, np.ones((3, 3), np.uint8))
    flat = np.flatnonzero((cornerness == highest) & (cornerness > least))  # quicker than nonzero in two dimensions
    return np.unravel_index(flat, cornerness.shape)


def _characteristic(peaks: Peaks, laplacians: list[Picture]) -> tuple[Peaks, Array]:
    """The peaks where the Laplacian, times the square of its scale, is the largest of three half an octave apart; and by how
    many half octaves their scale is off, from the parabola through the three."""
    below, here, above = (
        laplacian[peaks] * np.float32(factor) for laplacian, factor in zip(laplacians, (0.5, 1, 2), strict=True)
    )
    kept = (here > below) & (here > above)
    return (peaks[0][kept], peaks[1][kept]), _vertex(below[kept], here[kept], above[kept])


def refined_centres(cornerness: Picture, peaks: Peaks) -> Array:
    """Centres (n, 2), x before y, between the pixels: where parabolas through the neighbouring values have their vertex."""
    framed = cv2.copyMakeBorder(cornerness, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    row, column = peaks[0] + 1, peaks[1] + 1
    here = framed[row, column]
    x = peaks[1] + _vertex(framed[row, column - 1], here, framed[row, column + 1])
    y = peaks[0] + _vertex(framed[row - 1, column], here, framed[row + 1, column])
    return np.stack([x, y], axis=1)


def _vertex(before: npt.NDArray[np.float32], here: npt.NDArray[np.float32], after: npt.NDArray[np.float32]) -> Array:
    """Offset of the top of the parabola through three values, the middle one the largest: from -1/2 to 1/2."""
    rise, bend = (
        0.5 * (before.astype(np.float64) - after),
        before.astype(np.float64) - 2 * here.astype(np.float64) + after,
    )
    return np.where(bend < 0, rise / np.where(bend < 0, bend, 1.0), 0.0)
