"""From latent values to probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from fewsight._base.types import Array

# The trapezoidal rule on Gaussian integrands: this spacing and reach leave errors below 1e-10.
OFFSETS = np.arange(-8.0, 8.0 + 1e-9, 0.25)
ROWS = 256  # done at a time: ROWS x classes x offsets numbers are in memory


def largest_probability(mean: Array, std: Array) -> Array:
    """Probability that each column is the largest, for independent Gaussians with one standard deviation per row.

    With z = m / s, P(c) = int phi(t - z_c) prod_{j != c} Phi(t - z_j) dt, on a grid of t around the largest z. With two columns
    the latent values of the one-vs-all problems are each other's opposites, so that P(c) = Phi(z_c) without it.
    """
    if mean.shape[1] == 1:
        return np.ones_like(mean)
    scaled = mean / np.maximum(std, 1e-12)[:, None]
    if mean.shape[1] == 2:
        gap = 0.5 * (scaled[:, 0] - scaled[:, 1])
        return np.stack([ndtr(gap), ndtr(-gap)], axis=1)
    return np.concatenate(
        [_integrated(scaled[start : start + ROWS]) for start in range(0, len(scaled), ROWS)] or [scaled]
    )


def _integrated(scaled: Array) -> Array:
    grid = scaled.max(axis=1)[:, None, None] + OFFSETS  # (m, 1, offsets)
    gaps = grid - scaled[:, :, None]  # t - z_j
    below = log_ndtr(gaps)
    others = below.sum(axis=1, keepdims=True) - below
    log_mass = logsumexp(others - 0.5 * gaps**2, axis=2)
    return softmax(log_mass)


def softmax(values: Array) -> Array:
    """Values turned into probabilities that keep their order."""
    return np.exp(values - logsumexp(values, axis=1, keepdims=True))
