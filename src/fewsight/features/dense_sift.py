"""SIFT descriptors on a regular grid, upright, at one or several scales. [Kapoor2010, section 8; Lazebnik2006]"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, LocalFeatures, Pixels, Recipe

# OpenCV's descriptor covers six times a keypoint's size.
PATCH_PER_SIZE = 6.0
MOST_SCALES = 20

Grey = npt.NDArray[np.uint8]  # (h, w)


@dataclass(frozen=True)
class DenseSift:
    """Every `step` pixels a descriptor of a square patch, `patch` times each scale wide; the grid is centred.

    A scale above 1 is reached by shrinking the image, not by a larger patch: the descriptor is smoothed as it should be, and
    costs the same at every scale. A patch whose mean gradient is below `contrast` (grey levels of 255 per pixel) has no
    structure to describe: it gets the zero descriptor instead of amplified noise.
    """

    width: ClassVar[int] = 128  # numbers of a descriptor

    step: float = 8
    patch: int = 16
    scales: tuple[float, ...] = (1.0,)
    contrast: float = 0.0

    def __post_init__(self) -> None:
        check_number(self, "step", self.step, least=0.5, most=10_000)
        check_integer(self, "patch", self.patch, least=4, most=1_000)
        if not isinstance(self.scales, tuple) or not 1 <= len(self.scales) <= MOST_SCALES:
            raise InvalidInput(
                f"DenseSift: scales must be a tuple of 1 to {MOST_SCALES} numbers, got {shown(self.scales)}."
            )
        for scale in self.scales:
            check_number(self, "each of the scales", scale, least=0.1, most=100)
        check_number(self, "contrast", self.contrast, least=0, most=255)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "dense_sift", "version": 1, **asdict(self), "scales": list(self.scales)}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """Descriptors (n, 128) as bytes, scale by scale; an image smaller than a patch is continued at its edges."""
        return self.describe_plane(_grey(pixels))

    def describe_plane(self, plane: Grey) -> LocalFeatures:
        """As `describe`, of one plane of bytes (h, w) instead of the grey values."""
        parts = [self._at_scale(shrunk, scale) for shrunk, scale in zip(self._shrunk(plane), self.scales, strict=True)]
        return LocalFeatures(
            np.concatenate([part.descriptors for part in parts]), np.concatenate([part.locations for part in parts])
        )

    def mean_gradients(self, plane: Grey) -> npt.NDArray[np.float32]:
        """How much changes over the patch of each descriptor (n,) of `describe_plane`, in levels per pixel."""
        parts = [
            _mean_gradient(shrunk, _grid(*shrunk.shape, self.step / scale, self.patch)[1], self.patch)
            for shrunk, scale in zip(self._shrunk(plane), self.scales, strict=True)
        ]
        return np.concatenate(parts)

    def _shrunk(self, plane: Grey) -> list[Grey]:
        return [_padded(_shrunk(plane, scale), self.patch) for scale in self.scales]

    def _at_scale(self, grey: Grey, scale: float) -> LocalFeatures:
        height, width = grey.shape
        keypoints, centres = _grid(height, width, self.step / scale, self.patch)
        _, descriptors = _sift().compute(grey, keypoints)
        if self.contrast > 0:
            descriptors[_mean_gradient(grey, centres, self.patch) < self.contrast] = 0
        size = np.array([width, height], np.float32)
        return LocalFeatures(descriptors, np.divide(centres, size, dtype=np.float32))


@functools.lru_cache(maxsize=1)
def _sift() -> cv2.SIFT:
    """OpenCV's SIFT with byte descriptors; its other overload takes the same five defaults, so the type goes by name."""
    create: Any = cv2.SIFT.create
    return create(0, 3, 0.04, 10, 1.6, descriptorType=cv2.CV_8U)


def _grey(pixels: Pixels) -> Grey:
    return cv2.convertScaleAbs(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY), alpha=255.0)


def _shrunk(grey: Grey, scale: float) -> Grey:
    if scale == 1:
        return grey
    height, width = (max(1, round(side / scale)) for side in grey.shape)
    return cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA if scale > 1 else cv2.INTER_CUBIC)


def _padded(grey: Grey, side: int) -> Grey:
    height, width = grey.shape
    missing = max(0, side - height), max(0, side - width)
    if not any(missing):
        return grey
    top, left = missing[0] // 2, missing[1] // 2
    return cv2.copyMakeBorder(grey, top, missing[0] - top, left, missing[1] - left, cv2.BORDER_REPLICATE)


@functools.lru_cache(maxsize=64)  # photographs of one folder share few shapes
def _grid(height: int, width: int, step: float, patch: int) -> tuple[tuple[cv2.KeyPoint, ...], npt.NDArray[np.float32]]:
    """Keypoints for OpenCV and their centres (n, 2), x before y."""
    x, y = np.meshgrid(_ticks(width, step, patch), _ticks(height, step, patch))
    centres = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
    return tuple(cv2.KeyPoint(float(x), float(y), patch / PATCH_PER_SIZE, 0.0) for x, y in centres), centres


def _ticks(length: int, step: float, patch: int) -> Array:
    """Patch centres along one side: whole patches only, what is left over shared by both ends."""
    room = length - patch
    return patch / 2 + (room % step) / 2 + step * np.arange(room // step + 1, dtype=np.float64)


def _mean_gradient(grey: Grey, centres: npt.NDArray[np.float32], patch: int) -> npt.NDArray[np.float32]:
    """Mean length of the gradient over each patch, in grey levels per pixel."""
    across = cv2.Sobel(grey, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(grey, cv2.CV_32F, 0, 1, scale=1 / 8)
    columns, rows = centres.astype(np.intp).T
    return cv2.blur(cv2.magnitude(across, down), (patch, patch))[rows, columns]
