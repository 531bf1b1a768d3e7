"""Histograms of gradient orientations in a grid of cells: the local features of PHOG. [Bosch2007; Rodner2010, section 4]"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_choice, check_integer, check_number
from fewsight._base.types import LocalFeatures, Pixels, Recipe
from fewsight.features.cells import Amounts, Codes, cell_features

DIRECTIONS = ("signed", "unsigned")
ROUNDING = 1e-5  # shorter gradients, in units of white, are no edges; a step of 1 / 255 is hundreds of times longer
Plane = npt.NDArray[np.float32]  # (h, w)


@dataclass(frozen=True)
class OrientedGradients:
    """Which way the brightness changes, and how much, in each of side x side cells.

    A gradient counts with its length, shared by the two bins next to its orientation. "signed" tells a dark-to-bright edge from
    a bright-to-dark one, "unsigned" does not. `smoothing` is the standard deviation, in pixels, of the Gaussian that the
    brightness is blurred with first, 0 for none. Nothing changes when the brightness is multiplied or shifted.
    """

    n_bins: int = 20
    directions: str = "unsigned"
    smoothing: float = 1.0
    side: int = 8

    def __post_init__(self) -> None:
        check_integer(self, "n_bins", self.n_bins, least=2, most=360)
        check_choice(self, "directions", self.directions, DIRECTIONS)
        check_number(self, "smoothing", self.smoothing, least=0, most=100)
        check_integer(self, "side", self.side, least=1, most=128)

    def recipe(self) -> Recipe:
        """All that decides what `describe` returns."""
        return {"kind": "oriented_gradients", "version": 1, **asdict(self)}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        """A histogram (side * side, n_bins) for each cell; they sum to one, or to zero for an image without any edge."""
        return cell_features(self._layers(*_gradient(_smooth(_grey(pixels), self.smoothing))), self.n_bins, self.side)

    def _layers(self, across: Plane, down: Plane) -> Iterator[tuple[Codes, Amounts]]:
        """Each gradient goes to the bin below its angle and to the one above, by nearness."""
        length, angle = cv2.cartToPolar(across, down)
        length[length < ROUNDING] = 0
        turn = 2 * np.pi if self.directions == "signed" else np.pi
        place = angle * np.float32(self.n_bins / turn)
        lower = np.floor(place)
        share = place - lower
        yield lower.astype(np.intp) % self.n_bins, length * (1 - share)
        yield (lower.astype(np.intp) + 1) % self.n_bins, length * share


def _grey(pixels: Pixels) -> Plane:
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY))


def _smooth(grey: Plane, sigma: float) -> Plane:
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)) if sigma > 0 else grey


def _gradient(grey: Plane) -> tuple[Plane, Plane]:
    """Sobel derivatives along x and y; nothing changes beyond the border."""
    across, down = (cv2.Sobel(grey, cv2.CV_32F, *axis, borderType=cv2.BORDER_REPLICATE) for axis in ((1, 0), (0, 1)))
    return np.asarray(across), np.asarray(down)
