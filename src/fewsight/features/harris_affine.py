"""Harris-Affine interest points with SIFT descriptors. [Mikolajczyk2004; Kapoor2010, section 8]

The shape of the neighbourhood of each corner is estimated: with mu its second-moment matrix, x -> mu^(1/2) x makes gradients
equally strong in all directions, whatever affine map the viewpoint applied before. As the window of mu should have that very
shape, this is repeated until mu is isotropic. The ellipse found is warped to a square, which SIFT describes, upright.
"""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_choice, check_integer, check_number
from fewsight._base.types import Array, LocalFeatures, Pixels, Recipe
from fewsight.features.corners import SHARPEST, Regions, Samples, ScaleSpace, harris_corners, lattice

WINDOW = 13  # samples along a side of the neighbourhood whose shape is estimated, half a scale apart
ISOTROPIC = 1.1  # eigenvalues of mu in a smaller ratio need no further step

PATCH = 16  # pixels of the square that SIFT describes
TILE = 22  # with the margin that its outer bins (an eighth of the patch) and gradients reach into
TILES = 16  # side by side in the picture handed to SIFT
PATCH_PER_SIZE = 6.0  # OpenCV's descriptor covers six times a keypoint's size


@dataclass(frozen=True)
class HarrisAffine:
    """At most `max_points` corners, each with the scale and the shape of its neighbourhood.

    Parameters
    ----------
    max_points : the strongest are kept.
    threshold : the weakest corner: how much changes over one scale, in grey levels of 255.
    scales : "characteristic" keeps corners at scales where the Laplacian is larger than half an octave below and above;
        "all" keeps all corners every half octave, which is redundant but leaves less of an image undescribed.
    iterations : steps of the estimation of shape, at most; 0 leaves every region a circle.
    max_stretch : regions longer than this many times their width lie on edges rather than corners and are dropped.
    extent : side of the described square, in scales of the region.
    """

    width: ClassVar[int] = 128  # numbers of a descriptor

    max_points: int = 1000
    threshold: float = 1.0
    scales: str = "characteristic"
    iterations: int = 8
    max_stretch: float = 6.0
    extent: float = 18.0

    def __post_init__(self) -> None:
        check_integer(self, "max_points", self.max_points, least=1, most=30_000)  # OpenCV takes 32,766 rows
        check_number(self, "threshold", self.threshold, least=1e-3, most=255)
        check_choice(self, "scales", self.scales, ("characteristic", "all"))
        check_integer(self, "iterations", self.iterations, least=0, most=1_000)
        check_number(self, "max_stretch", self.max_stretch, least=1, most=1e9)
        check_number(self, "extent", self.extent, least=0.1, most=1_000)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "harris_affine", "version": 1, **asdict(self)}

    def regions(self, pixels: Pixels) -> Regions:
        """The interest points, strongest first: where, how large and of which shape."""
        return self._regions_in(ScaleSpace(pixels))

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """Descriptors (n, 128) as bytes, strongest corner first; none at all for an image without corners."""
        space = ScaleSpace(pixels)
        regions = self._regions_in(space)
        step = self.extent / PATCH
        squares = space.sample(regions, lattice(TILE, step), sharpness=0.7 * step * regions.scales)
        height, width = pixels.shape[:2]
        locations = np.clip((regions.centres + 0.5) / (width, height), 0.0, 1.0)
        return LocalFeatures(
            _described(squares),
            locations.astype(np.float32),
            scales=(regions.scales / width).astype(np.float32),
            strengths=regions.strengths.astype(np.float32),
        )

    def _regions_in(self, space: ScaleSpace) -> Regions:
        corners = harris_corners(space, threshold=self.threshold, characteristic=self.scales == "characteristic")
        strongest = np.argsort(-corners.strengths, kind="stable")[: self.max_points]
        adapted = self._adapted(space, corners.select(strongest))
        return adapted.select(_stretch(adapted.shapes) <= self.max_stretch)

    def _adapted(self, space: ScaleSpace, regions: Regions) -> Regions:
        """The regions stretched along mu^(-1/2) until their gradients are isotropic; their areas stay."""
        shapes, moving = regions.shapes.copy(), np.arange(len(regions))
        for _ in range(self.iterations):
            present = replace(regions.select(moving), shapes=shapes[moving])
            moments = second_moments(space, present)
            stretched = present.shapes @ _root(_inverse(moments))
            shapes[moving] = _root(stretched @ stretched.transpose(0, 2, 1))
            moving = moving[(_stretch(moments) > ISOTROPIC) & (_stretch(shapes[moving]) <= self.max_stretch)]
            if not len(moving):
                break
        return replace(regions, shapes=shapes)


def second_moments(space: ScaleSpace, regions: Regions) -> Array:
    """mu (n, 2, 2) in the frame of each region, under a Gaussian window of its scale; scaled to determinant one.

    Where there is no gradient at all, mu is the identity. The samples are hardly smoother than their distance asks for: what
    is smoothed in the frame of the image, before it is warped, seems rounder than it is.
    """
    sharpness = 0.25 * regions.scales / np.sqrt(_stretch(regions.shapes))
    squares = space.sample(regions, lattice(WINDOW, 0.5), sharpness=sharpness).reshape(-1, WINDOW, WINDOW)
    across, down = (derivative.reshape(len(squares), (WINDOW - 2) ** 2) for derivative in _derivatives(squares))
    products = (across * across, across * down, down * down)
    xx, xy, yy = ((product @ _gaussian_window()).astype(np.float64) for product in products)
    size = np.sqrt(np.maximum(xx * yy - xy**2, 1e-8 * (xx + yy) ** 2))  # a straight edge is long, not endless
    flat = xx + yy < 1e-6
    xx, xy, yy, size = (np.where(flat, value, entry) for value, entry in ((1, xx), (0, xy), (1, yy), (1, size)))
    return (np.stack([xx, xy, xy, yy], axis=1) / size[:, None]).reshape(-1, 2, 2)


def _derivatives(squares: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Sobel's, along x and along y, of (n, k, k) samples: (n, k - 2, k - 2) each."""
    along_y = squares[:, :-2] + 2 * squares[:, 1:-1] + squares[:, 2:]
    along_x = squares[:, :, :-2] + 2 * squares[:, :, 1:-1] + squares[:, :, 2:]
    return along_y[:, :, 2:] - along_y[:, :, :-2], along_x[:, 2:] - along_x[:, :-2]


# Symmetric 2 x 2 matrices of determinant one, (n, 2, 2): their eigenvalues are s and 1 / s.


def _trace(matrices: Array) -> Array:
    return matrices[:, 0, 0] + matrices[:, 1, 1]


def _inverse(matrices: Array) -> Array:
    return _trace(matrices)[:, None, None] * np.eye(2) - matrices


def _root(matrices: Array) -> Array:
    """(M + 1) / sqrt(trace + 2), as M^2 = trace M - 1 (Cayley and Hamilton)."""
    return (matrices + np.eye(2)) / np.sqrt(_trace(matrices) + 2.0)[:, None, None]


def _stretch(matrices: Array) -> Array:
    """Larger through smaller eigenvalue: s^2, where s + 1 / s is the trace."""
    trace = _trace(matrices)
    return ((trace + np.sqrt(np.maximum(trace**2 - 4.0, 0.0))) / 2.0) ** 2


@functools.lru_cache(maxsize=1)
def _gaussian_window() -> npt.NDArray[np.float32]:
    """Weights of the inner (WINDOW - 2)^2 samples: a Gaussian of one scale, cut off at a circle."""
    x, y = lattice(WINDOW - 2, 0.5)
    squared = x**2 + y**2
    weights = np.where(squared <= x.max() ** 2, np.exp(-squared / 2), 0.0)
    return (weights / weights.sum()).astype(np.float32)


def _described(squares: Samples) -> npt.NDArray[np.uint8]:
    """SIFT of squares of TILE x TILE samples, all laid out in one picture; contrast is made full before it becomes bytes."""
    if not len(squares):
        return np.empty((0, 128), np.uint8)
    lowest = squares.min(axis=1, keepdims=True)
    contrast = np.maximum(squares.max(axis=1, keepdims=True) - lowest, 1.0)
    rows = math.ceil(len(squares) / TILES)
    tiles = np.zeros((rows * TILES, TILE * TILE), np.uint8)
    tiles[: len(squares)] = np.rint((squares - lowest) * (255 / contrast))
    picture = tiles.reshape(rows, TILES, TILE, TILE).transpose(0, 2, 1, 3).reshape(rows * TILE, TILES * TILE)
    return _sift().compute(picture, _keypoints(rows)[: len(squares)])[1]


@functools.lru_cache(maxsize=1)
def _sift() -> cv2.SIFT:
    """OpenCV's SIFT with byte descriptors, told that the picture is as smooth as it should be."""
    create: Any = cv2.SIFT.create
    return create(0, 3, 0.04, 10, SHARPEST, descriptorType=cv2.CV_8U)


@functools.lru_cache(maxsize=64)
def _keypoints(rows: int) -> tuple[cv2.KeyPoint, ...]:
    """The middles of all tiles, row by row."""
    x, y = (TILE * np.arange(count) + (TILE - 1) / 2 for count in (TILES, rows))
    size = PATCH / PATCH_PER_SIZE
    return tuple(cv2.KeyPoint(float(column), float(row), size, 0.0) for row in y for column in x)
