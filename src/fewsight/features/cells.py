"""Histograms over a grid of cells: what the whole-image descriptors share. Locations are the centres of the cells."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices, LocalFeatures

Codes = npt.NDArray[np.integer]  # (h, w): the bin of each pixel
Amounts = npt.NDArray[np.floating]  # (h, w): how much each pixel counts, zero or more


def cell_features(layers: Iterable[tuple[Codes, Amounts | None]], n_bins: int, side: int) -> LocalFeatures:
    """A histogram (side * side, n_bins) for each cell, row by row; together they sum to one, or to zero if nothing counts.

    Every layer says into which bin each pixel falls and how much it counts there; None counts pixels.
    """
    sums = np.zeros(side * side * n_bins)
    for codes, amounts in layers:
        sums += _sums(codes, amounts, n_bins, side)
    total = sums.sum()
    shares = sums / total if total > 0 else sums
    return LocalFeatures(shares.reshape(side * side, n_bins).astype(np.float32), cell_centres(side))


def cell_centres(side: int) -> npt.NDArray[np.float32]:
    """(side * side, 2): x and y as fractions of the image, row by row."""
    middles = (np.arange(side, dtype=np.float32) + np.float32(0.5)) / np.float32(side)
    x, y = np.meshgrid(middles, middles)
    return np.stack([x.ravel(), y.ravel()], axis=1)


def _sums(codes: Codes, amounts: Amounts | None, n_bins: int, side: int) -> Array:
    height, width = codes.shape
    bins = (_cell_of_pixels(height, width, side) * n_bins + codes).ravel()
    weights = None if amounts is None else amounts.ravel()
    return np.bincount(bins, weights, minlength=side * side * n_bins).astype(np.float64)


@functools.lru_cache(maxsize=16)  # photographs of one folder share few shapes
def _cell_of_pixels(height: int, width: int, side: int) -> Indices:
    """(h, w): the cell that the centre of each pixel lies in, row by row."""
    rows, columns = (((np.arange(n) + 0.5) * side / n).astype(np.intp) for n in (height, width))
    cells = rows[:, None] * side + columns[None, :]
    cells.flags.writeable = False
    return cells
