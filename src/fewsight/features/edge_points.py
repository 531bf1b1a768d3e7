"""Edges in four orientations, and points sampled along them, spread out over the image. [Berg2001; Kapoor2010, section 8]"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number
from fewsight._base.types import Indices, Pixels, Recipe

N_ORIENTATIONS = 4
CANDIDATES = 12  # places drawn for each point that is wanted
LARGEST_GAP = 0.1  # between points at first, in lengths of the longer side of the image
WEAKEST = 1e-3  # edge, in units of white per pixel: a quarter of a grey level
Planes = npt.NDArray[np.float32]  # (n_orientations, h, w)


@dataclass(frozen=True)
class EdgePoints:
    """At most `n_points` places on edges, as far from each other as there is room.

    An image decides by its own pixels what is drawn: the same image always has the same points.

    Parameters
    ----------
    n_points : fewer are found in an image that has fewer pixels on edges.
    smoothing : standard deviation of the Gaussian that the brightness is blurred with before it is differentiated, in pixels.
    """

    n_points: int = 250
    smoothing: float = 1.5

    def __post_init__(self) -> None:
        check_integer(self, "n_points", self.n_points, least=1, most=10_000)
        check_number(self, "smoothing", self.smoothing, least=0.3, most=100)

    def recipe(self) -> Recipe:
        """All that decides what `planes` and `sample` return."""
        return {"kind": "edge_points", "version": 1, **asdict(self)}

    def planes(self, pixels: Pixels) -> Planes:
        """How strong edges of four orientations are, in units of white per pixel.

        An edge between two orientations counts for both, by nearness; a bright-to-dark edge like a dark-to-bright one.
        """
        grey = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY)
        smooth = cv2.GaussianBlur(grey, (0, 0), self.smoothing, borderType=cv2.BORDER_REPLICATE)
        across, down = (
            cv2.Sobel(smooth, cv2.CV_32F, *axis, ksize=1, scale=0.5, borderType=cv2.BORDER_REPLICATE)
            for axis in ((1, 0), (0, 1))
        )
        length, angle = cv2.cartToPolar(across, down)
        place = angle * np.float32(N_ORIENTATIONS / np.pi)
        apart = (place[None] - np.arange(N_ORIENTATIONS, dtype=np.float32)[:, None, None]) % N_ORIENTATIONS
        nearness = np.maximum(0, 1 - np.minimum(apart, N_ORIENTATIONS - apart))
        return np.asarray(length * nearness, dtype=np.float32)

    def sample(self, planes: Planes) -> Indices:
        """Rows and columns of the points (n, 2), drawn where `planes` are strong."""
        strength = planes.sum(axis=0)
        places = _drawn(strength, CANDIDATES * self.n_points)
        return _spread(places, strength.shape, self.n_points)


def _drawn(strength: npt.NDArray[np.float32], most: int) -> Indices:
    """Places in random order, a strong one sooner: each waits an exponential time of mean 1 / strength."""
    seed = hashlib.blake2b(strength.tobytes(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "little"))
    flat = strength.ravel()
    waits = rng.standard_exponential(flat.size, dtype=np.float32) / np.maximum(flat, np.float32(WEAKEST))
    waits[flat < WEAKEST] = np.inf
    count = min(most, int(np.isfinite(waits).sum()))
    soonest = np.argpartition(waits, count - 1)[:count] if count else np.empty(0, np.intp)
    ordered = soonest[np.argsort(waits[soonest], kind="stable")]
    return np.stack(np.unravel_index(ordered, strength.shape), axis=1)


def _spread(places: Indices, shape: tuple[int, ...], n_points: int) -> Indices:
    """The first places that keep a distance from those before; where that leaves too few, a smaller one, and so on."""
    chosen: list[int] = []
    gap = LARGEST_GAP * max(shape)
    waiting = list(range(len(places)))
    while waiting and len(chosen) < n_points:
        taken = np.zeros(shape, np.uint8)
        for index in chosen:
            cv2.circle(taken, (int(places[index, 1]), int(places[index, 0])), int(gap), 1, -1)
        rest = []
        for index in waiting:
            row, column = int(places[index, 0]), int(places[index, 1])
            if taken[row, column] or len(chosen) == n_points:
                rest.append(index)
                continue
            chosen.append(index)
            cv2.circle(taken, (column, row), int(gap), 1, -1)
        waiting, gap = rest, gap / 1.4
    return places[chosen]
