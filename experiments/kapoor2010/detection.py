"""One category against all others, asked about one image at a time: the bare steps of `simulate` for thousands of short runs.

With two categories one column of means is enough. An answer t at position i adds one row, as in `fewsight.active.PoolView`:

    v = (k(i, pool) - V_i^T V) / l,   mean += v (t - mean_i) / l,   variance -= v^2,   l = sqrt(variance_i + noise).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices

Mask = npt.NDArray[np.bool_]


class Detector:
    """The posterior of one category against the rest at every image of a Gram matrix (m, m)."""

    def __init__(self, K: Array, scale: float, noise: float, most: int) -> None:
        self.K, self.scale, self.noise, self.n = K, scale, noise, 0
        self.V = np.zeros((most, len(K)))
        self.mean = np.zeros(len(K))
        self.variance = K.diagonal().astype(np.float64) / scale

    def learn(self, position: int, target: float) -> None:
        """One answer."""
        pivot = np.sqrt(max(self.variance[position], 0.0) + self.noise)
        row = self.K[position].astype(np.float64) / self.scale
        row -= self.V[: self.n, position] @ self.V[: self.n]
        row /= pivot
        self.V[self.n] = row
        self.n += 1
        self.mean += row * ((target - self.mean[position]) / pivot)
        self.variance -= row * row

    def least_certain(self, candidates: Indices) -> int:
        """The smallest |mean| / sqrt(variance + noise) among some images. [Kapoor2010, eq. 10]"""
        spread = np.sqrt(np.maximum(self.variance[candidates], 0.0) + self.noise)
        return int(candidates[np.argmin(np.abs(self.mean[candidates]) / spread)])


def detection_curve(
    K: Array, own: Mask, test: Indices, rule: str, n_queries: int, noise: float, seed: int
) -> list[float]:
    """Mean accuracy on the test images of those that are `own` and the others, from one label of each on."""
    left = np.ones(len(K), dtype=bool)
    left[test] = False
    detector = Detector(K, float(K.diagonal()[left].mean()), noise, n_queries + 2)
    rng = np.random.default_rng(seed)
    first = [int(rng.permutation(np.flatnonzero(left & group))[0]) for group in (~own, own)]
    accuracy = []
    for asked in range(n_queries + 1):
        positions = first if not asked else [_next(detector, np.flatnonzero(left), rule, [seed, asked - 1])]
        for position in positions:
            detector.learn(position, 1.0 if own[position] else -1.0)
            left[position] = False
        accuracy.append(_accuracy(detector.mean[test] > 0, own[test]))
    return accuracy


def _next(detector: Detector, candidates: Indices, rule: str, seed: list[int]) -> int:
    if rule == "uncertainty":
        return detector.least_certain(candidates)
    return int(candidates[np.argmax(np.random.default_rng(seed).random(len(candidates)))])


def _accuracy(found: Mask, own: Mask) -> float:
    return float(np.mean([np.mean(found[own]), np.mean(~found[~own])]))
