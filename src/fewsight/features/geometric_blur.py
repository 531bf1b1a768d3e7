"""Geometric blur: edges around a point, the more blurred the farther away they are. [Berg2001; Kapoor2010, section 8]

Four planes of oriented edges are blurred by `growth` r + `least_blur` pixels and read on rings of radius r around the point, so
that a small turn or stretch of what is there moves nothing out of its place.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_number
from fewsight._base.types import Indices, LocalFeatures, Pixels, Recipe
from fewsight.features.edge_points import N_ORIENTATIONS, EdgePoints, Planes

Plane = npt.NDArray[np.float32]  # (h, w)
RINGS = ((0.0, 1), (0.35, 4), (1.0, 7))  # radii in the largest one, and places on each


@dataclass(frozen=True)
class GeometricBlur:
    """Descriptors of 48 numbers at edge points: four orientations at twelve places on three rings, divided by their length.

    Parameters
    ----------
    points : where the descriptors are, and of which edges.
    radius : of the outermost ring, in lengths of the longer side of the image.
    growth : how many pixels the blur grows for each pixel of the radius.
    least_blur : the blur at the point itself, in pixels.
    """

    width: ClassVar[int] = N_ORIENTATIONS * sum(count for _, count in RINGS)  # numbers of a descriptor

    points: EdgePoints = field(default_factory=EdgePoints)
    radius: float = 0.22
    growth: float = 0.3
    least_blur: float = 1.0

    def __post_init__(self) -> None:
        check_number(self, "radius", self.radius, least=0.01, most=1)
        check_number(self, "growth", self.growth, least=0, most=10)
        check_number(self, "least_blur", self.least_blur, least=0.3, most=100)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "geometric_blur", "version": 1, **asdict(self), "points": self.points.recipe(), "rings": RINGS}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """Descriptors (n, 48) in half precision; none for an image without edges."""
        planes = self.points.planes(pixels)
        places = self.points.sample(planes)
        height, width = pixels.shape[:2]
        locations = (places[:, ::-1] + 0.5) / (width, height)
        return LocalFeatures(self._around(planes, places).astype(np.float16), locations.astype(np.float32))

    def _around(self, planes: Planes, places: Indices) -> Plane:
        if not len(places):
            return np.empty((0, self.width), np.float32)
        reach = self.radius * max(planes.shape[1:])
        parts = [self._ring(planes, places, reach * share, count) for share, count in RINGS]
        values = np.concatenate(parts, axis=1)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.asarray(values / np.maximum(lengths, 1e-12), dtype=np.float32)

    def _ring(self, planes: Planes, places: Indices, radius: float, count: int) -> Plane:
        """All orientations at the places of one ring around each point (n, 4 * count). Outside the image is no edge."""
        sigma = self.growth * radius + self.least_blur
        angles = 2 * math.pi * np.arange(count) / count
        x = (places[:, 1:] + radius * np.cos(angles)).astype(np.float32)
        y = (places[:, :1] + radius * np.sin(angles)).astype(np.float32)
        found = [_blurred_values(plane, sigma, x, y) for plane in planes]
        return np.concatenate(found, axis=1)


def _blurred_values(plane: Plane, sigma: float, x: Plane, y: Plane) -> Plane:
    """The plane, blurred, at some places: where the blur is wide, of a smaller copy."""
    shrink = 2 ** max(0, int(math.log2(max(sigma / 3, 1))))
    size = tuple(max(1, side // shrink) for side in plane.shape[::-1])
    small = plane if shrink == 1 else cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
    blurred = cv2.GaussianBlur(small, (0, 0), sigma / shrink, borderType=cv2.BORDER_CONSTANT)
    across, down = (
        ((places + 0.5) * (short / long) - 0.5).astype(np.float32)
        for places, short, long in zip((x, y), small.shape[::-1], plane.shape[::-1], strict=True)
    )
    return np.asarray(cv2.remap(blurred, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT))
