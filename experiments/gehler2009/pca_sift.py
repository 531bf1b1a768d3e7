"""PCA-SIFT on a grid: the gradients of a patch, scaled to unit length, in a few principal components. [Ke2004]

Unlike SIFT, nothing is pooled: where in the patch an edge lies is kept as well as the components can hold it. Patches are
upright, and sampled at 21 x 21 places (41 x 41 in the paper), so that a gradient is known at 19 x 19 of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Single = npt.NDArray[np.float32]

HALF = 10  # samples from the centre of a patch to its edge
SIDE = 2 * HALF - 1  # places with a gradient
LEAST_LENGTH = 1e-6  # of the gradients of a patch, grey values being 0 to 1: below it nothing is to be seen
PER_SCALE = 100  # patches of a tile at each radius that components are learned from


@dataclass(frozen=True)
class Grid:
    """`points` x `points` patches of each radius, in pixels, as far apart as the image allows."""

    points: int = 21
    radii: tuple[float, ...] = (4.0, 8.0, 12.0, 16.0)

    def gradients(self, grey: Single, radius: float) -> Single:
        """Both derivatives of the patches of one radius, of unit length: (points^2, 2 SIDE^2)."""
        scale = HALF / radius
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        plane = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=how)
        across = plane[1:-1, 2:] - plane[1:-1, :-2]
        down = plane[2:, 1:-1] - plane[:-2, 1:-1]
        rows, columns = (np.linspace(0, side - SIDE, self.points).round().astype(int) for side in across.shape)
        parts = [
            np.lib.stride_tricks.sliding_window_view(part, (SIDE, SIDE))[np.ix_(rows, columns)].reshape(-1, SIDE**2)
            for part in (across, down)
        ]
        found = np.concatenate(parts, axis=1)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), LEAST_LENGTH))


@dataclass(frozen=True)
class PcaSift:
    """The components of patches of these kinds."""

    grid: Grid
    mean: Single  # (2 SIDE^2,)
    components: Single  # (2 SIDE^2, d)

    @classmethod
    def learned_from(cls, tiles: Iterable[Single], n_components: int, grid: Grid, rng: np.random.Generator) -> PcaSift:
        """The largest components of patches of these grey images."""
        parts = [grid.gradients(tile, radius) for tile in tiles for radius in grid.radii]
        sample = np.concatenate([part[rng.permutation(len(part))[:PER_SCALE]] for part in parts])
        mean = sample.mean(axis=0)
        sample -= mean
        _, vectors = np.linalg.eigh(sample.T @ sample)
        return cls(grid, mean, np.ascontiguousarray(vectors[:, ::-1][:, :n_components]))

    def describe(self, tile: Single) -> Single:
        """Descriptors of a grey image, radius by radius: (n, d)."""
        return np.concatenate([(self.grid.gradients(tile, r) - self.mean) @ self.components for r in self.grid.radii])

    def describe_all(self, tiles: Sequence[Single]) -> Single:
        """Of images of which each has the same number, one after the other: (images, n, d)."""
        return np.stack([self.describe(tile) for tile in tiles])
