"""Local binary patterns in a grid of cells: which neighbours of a pixel are brighter. [Ojala2002; Wu2011]"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.features.cells import Codes, cell_features

RING = (
    (0, 1),
    (1, 1),
    (1, 0),
    (1, -1),
    (0, -1),
    (-1, -1),
    (-1, 0),
    (-1, 1),
)  # y, x of the neighbours, around the pixel
N_PATTERNS = 59  # 58 with at most two changes around the ring, and one bin for all others
Grey = npt.NDArray[np.uint8]  # (h, w)


@dataclass(frozen=True)
class BinaryPatterns:
    """Which of its eight neighbours are as bright as a pixel, counted in each of side x side cells.

    A neighbour that is darker by at most `margin` (of 255 grey levels) still counts as bright: noise writes no patterns on a
    flat surface. Of the 256 patterns the 58 with at most two changes around the ring (edges, corners, spots, flat places)
    have a bin each, the others share one. Larger structures are seen by shrinking the image by each of the `scales`.
    """

    scales: tuple[float, ...] = (2.0, 4.0)
    margin: int = 12
    side: int = 4

    def __post_init__(self) -> None:
        if not isinstance(self.scales, tuple) or not self.scales:
            raise InvalidInput(
                f"BinaryPatterns: scales must be a tuple of one or more numbers, got {shown(self.scales)}."
            )
        for scale in self.scales:
            check_number(self, "scales", scale, least=1, most=100)
        check_integer(self, "margin", self.margin, least=0, most=255)
        check_integer(self, "side", self.side, least=1, most=128)

    @property
    def n_bins(self) -> int:
        return N_PATTERNS * len(self.scales)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "binary_patterns", "version": 1, **asdict(self), "scales": list(self.scales)}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """A histogram (side * side, n_bins) for each cell, scale by scale; together they sum to one."""
        grey = _grey(pixels)
        parts = [self._at_scale(_shrunk(grey, scale)) for scale in self.scales]
        descriptors = np.concatenate([part.descriptors for part in parts], axis=1) / np.float32(len(parts))
        return LocalFeatures(descriptors, parts[0].locations)

    def _at_scale(self, grey: Grey) -> LocalFeatures:
        return cell_features([(_bins()[_patterns(grey, self.margin)], None)], N_PATTERNS, self.side)


def _patterns(grey: Grey, margin: int) -> Codes:
    """(h, w) from 0 to 255: a bit for each neighbour that is not darker by more than the margin."""
    padded = cv2.copyMakeBorder(grey, 1, 1, 1, 1, cv2.BORDER_REPLICATE).astype(np.int16)
    height, width = grey.shape
    centre = grey.astype(np.int16) - np.int16(margin)
    patterns = np.zeros(grey.shape, np.uint8)
    for bit, (y, x) in enumerate(RING):
        patterns |= (padded[1 + y : 1 + y + height, 1 + x : 1 + x + width] >= centre).astype(np.uint8) << bit
    return patterns


@functools.lru_cache(maxsize=1)
def _bins() -> Codes:
    """The bin of each of the 256 patterns."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    bins = np.full(256, N_PATTERNS - 1)
    bins[changes <= 2] = np.arange(N_PATTERNS - 1)
    bins.flags.writeable = False
    return bins


def _grey(pixels: Pixels) -> Grey:
    return cv2.convertScaleAbs(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY), alpha=255.0)


def _shrunk(grey: Grey, scale: float) -> Grey:
    if scale == 1:
        return grey
    height, width = (max(1, round(side / scale)) for side in grey.shape)
    return np.asarray(cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA))
