"""Entropy of the grey levels in discs of growing radius, and how much the ring that a disc gains differs from the disc before.

    H(r) = - sum_b p_b(r) log p_b(r),      change(r) = r^2 / (r^2 - r'^2) sum_b |p_b(r) - p_b(r')| = sum_b |ring_b - p_b(r')|

p(r) is the histogram of a disc, r' the radius before, areas are counted in pixels. For r' = r - 1 the factor is r^2 / (2 r - 1),
the weight of [Kadir2001]. Every pixel is shared between the two nearest bins, in whole UNITS, so that histograms are smooth in
the grey levels and entropies are looked up in a table of n log n.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled

UNITS = 16  # of a pixel, that two bins share
LEVELS = 256  # of grey

Ints = npt.NDArray[Any]


def ring_entropies_reference(
    levels: npt.NDArray[np.uint8], offsets: Ints, counts: Ints, step: int, n_bins: int
) -> tuple[Array, Array]:
    """The definition, disc by disc: entropies and changes (rows, columns, radii) around every `step`-th pixel.

    Disc k has the first `counts[k]` of the `offsets` (row, column) from its centre, which are ordered by distance. Where a disc
    is not inside the image both are 0, as is the change of the first disc.
    """
    rows, columns = -(-levels.shape[0] // step), -(-levels.shape[1] // step)
    entropies, changes = (np.zeros((rows, columns, len(counts))) for _ in range(2))
    place = np.clip((np.arange(LEVELS) + 0.5) * n_bins / LEVELS - 0.5, 0.0, n_bins - 1.0)
    lower = np.minimum(place.astype(np.int64), n_bins - 2)
    upper_units = np.floor(UNITS * (place - lower) + 0.5)
    for row, column in np.ndindex(rows, columns):
        before: Array | None = None
        for k, count in enumerate(counts):
            where = np.array([row * step, column * step]) + offsets[:count]
            if (where < 0).any() or (where >= levels.shape).any():
                break
            seen = levels[where[:, 0], where[:, 1]]
            histogram = np.bincount(lower[seen], UNITS - upper_units[seen], n_bins)
            histogram += np.bincount(lower[seen] + 1, upper_units[seen], n_bins)
            shares = histogram / histogram.sum()
            entropies[row, column, k] = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
            if before is not None:
                gained = 1.0 - counts[k - 1] / count
                changes[row, column, k] = np.abs(shares - before).sum() / gained
            before = shares
    return entropies, changes


@compiled(nogil=True, error_model="numpy")
def ring_entropies(
    levels: npt.NDArray[np.uint8], offsets: Ints, counts: Ints, step: int, n_bins: int
) -> tuple[Array, Array]:
    """As `ring_entropies_reference`, every pixel of a disc looked at once. Other threads may run."""
    height, width = levels.shape
    rows, columns, n_discs = -(-height // step), -(-width // step), len(counts)
    entropies, changes = np.zeros((rows, columns, n_discs)), np.zeros((rows, columns, n_discs))
    lower, upper_units = _bins_of_levels(n_bins)
    table = np.zeros(UNITS * counts[n_discs - 1] + 1)
    for n in range(1, len(table)):
        table[n] = n * np.log(n)
    reach = np.zeros(n_discs, np.int64)
    for k in range(n_discs):
        reach[k] = np.abs(offsets[: counts[k]]).max()
    flat = levels.ravel()
    steps = offsets[:, 0] * width + offsets[:, 1]
    histogram, before = np.zeros(n_bins, np.int64), np.zeros(n_bins, np.int64)
    for row in range(rows):
        y = row * step
        for column in range(columns):
            x = column * step
            room = min(y, x, height - 1 - y, width - 1 - x)
            histogram[:] = 0
            first, centre = 0, y * width + x
            for k in range(n_discs):
                if reach[k] > room:
                    break
                before[:] = histogram
                for j in range(first, counts[k]):
                    level = flat[centre + steps[j]]
                    b, units = lower[level], upper_units[level]
                    histogram[b] += UNITS - units
                    histogram[b + 1] += units
                total, logs = UNITS * counts[k], 0.0
                for b in range(n_bins):
                    logs += table[histogram[b]]
                entropies[row, column, k] = (table[total] - logs) / total
                if k > 0:
                    changes[row, column, k] = _change(histogram, before, total, UNITS * first)
                first = counts[k]
    return entropies, changes


@numba.njit(error_model="numpy")
def _bins_of_levels(n_bins: int) -> tuple[Ints, Ints]:
    """The lower of the two bins of each grey level, and how many units the upper one gets."""
    lower, upper_units = np.zeros(LEVELS, np.int64), np.zeros(LEVELS, np.int64)
    for level in range(LEVELS):
        place = min(max((level + 0.5) * n_bins / LEVELS - 0.5, 0.0), n_bins - 1.0)
        lower[level] = min(int(place), n_bins - 2)
        upper_units[level] = int(UNITS * (place - lower[level]) + 0.5)
    return lower, upper_units


@numba.njit(error_model="numpy")
def _change(histogram: Ints, before: Ints, total: int, total_before: int) -> float:
    difference = 0.0
    for b in range(len(histogram)):
        difference += abs(histogram[b] / total - before[b] / total_before)
    return difference / (1.0 - total_before / total)
