"""Salient circles: places whose grey levels are the least predictable at one radius, and change with it. [Kadir2001]"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Indices
from fewsight._compiled.ring_entropies import ring_entropies
from fewsight.features.corners import Picture, Regions

RADII = tuple(range(4, 29, 2))  # pixels
STEP = 2  # pixels between the centres that are tried
BINS = 16  # of grey levels
FEWEST = 1e-9  # entropy times change of a circle that says anything


def salient_circles(grey: Picture) -> Regions:
    """Circles inside the image at peaks of entropy over the radius; their strength is entropy times change,
    the mean of that from the radius before and that to the radius after.

    All of them, the strongest first: neighbours say much the same, so that whoever wants a few has to clear around each
    (`interest_patches.cleared`). `scales` are radii.
    """
    levels = np.clip(np.rint(grey), 0, 255).astype(np.uint8)
    offsets, counts = discs(RADII)
    entropies, changes = ring_entropies(levels, offsets, counts, STEP, BINS)
    before, here, after = entropies[:, :, :-2], entropies[:, :, 1:-1], entropies[:, :, 2:]
    strengths = here * 0.5 * (changes[:, :, 1:-1] + changes[:, :, 2:])
    peaks = (here > before) & (here >= after) & (after > 0) & (before > 0) & (strengths > FEWEST)
    row, column, k = np.nonzero(peaks)
    order = np.argsort(-strengths[peaks], kind="stable")
    centres = STEP * np.stack([column, row], axis=1)[order].astype(np.float64)
    return Regions.circles(centres, np.array(RADII, np.float64)[k + 1][order], strengths[peaks][order])


@functools.lru_cache(maxsize=4)
def discs(radii: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], Indices]:
    """Offsets (row, column) of the pixels of the largest disc by their distance, and how many of them each disc has."""
    side = np.arange(-radii[-1], radii[-1] + 1)
    row, column = (plane.ravel() for plane in np.meshgrid(side, side, indexing="ij"))
    squared = row**2 + column**2
    order = np.argsort(squared, kind="stable")
    order = order[squared[order] <= radii[-1] ** 2]
    counts = np.searchsorted(squared[order], np.array(radii) ** 2, side="right")
    return np.ascontiguousarray(np.stack([row, column], axis=1)[order]), counts
