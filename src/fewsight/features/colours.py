"""Histograms of colours in a grid of cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number
from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.features.cells import Amounts, Codes, cell_features

FARTHEST = 128.0  # a* and b* of every RGB colour lie within
Plane = npt.NDArray[np.float32]  # (h, w)


@dataclass(frozen=True)
class Colours:
    """How much of which colour is in each of side x side cells: joint histograms of CIE L*a*b*.

    The axes a* and b* are warped as sign(a) |a|^power, so that a power below 1 tells pale colours apart more finely than
    vivid ones. A pixel is shared by the eight bins around its colour, by nearness.
    """

    n_lightness: int = 4
    n_chroma: int = 7
    power: float = 0.5
    side: int = 4

    def __post_init__(self) -> None:
        check_integer(self, "n_lightness", self.n_lightness, least=1, most=64)
        check_integer(self, "n_chroma", self.n_chroma, least=1, most=64)
        check_number(self, "power", self.power, least=0.1, most=4)
        check_integer(self, "side", self.side, least=1, most=128)

    @property
    def n_bins(self) -> int:
        return self.n_lightness * self.n_chroma**2

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "colours", "version": 1, **asdict(self)}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """A histogram (side * side, n_bins) for each cell; together they sum to one."""
        return cell_features(self._layers(np.ascontiguousarray(pixels)), self.n_bins, self.side)

    def _layers(self, pixels: Pixels) -> Iterator[tuple[Codes, Amounts]]:
        lightness, a, b = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab))
        axes = [_halves(lightness / 100, self.n_lightness)]
        axes += [_halves(_warped(axis, self.power), self.n_chroma) for axis in (a, b)]
        for corner in itertools.product((0, 1), repeat=3):
            (i, u), (j, v), (k, w) = (halves[side] for halves, side in zip(axes, corner, strict=True))
            yield (i * self.n_chroma + j) * self.n_chroma + k, u * v * w


def _warped(axis: Plane, power: float) -> Plane:
    """From [-128, 128] to [0, 1], with grey at one half."""
    return 0.5 + 0.5 * np.sign(axis) * np.abs(axis / FARTHEST) ** power


def _halves(value: Plane, n_bins: int) -> tuple[tuple[Codes, Amounts], tuple[Codes, Amounts]]:
    """The bins below and above a value in [0, 1], the first at 0 and the last at 1, and its share of each."""
    place = np.clip(value, 0, 1) * (n_bins - 1)
    lower = np.minimum(place.astype(np.intp), max(0, n_bins - 2))
    share = place - lower
    return (lower, 1 - share), (np.minimum(lower + 1, n_bins - 1), share)
