"""From latent values to probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from fewsight._base.types import Array

# The trapezoidal rule on Gaussian integrands: these spacings and this reach leave errors below 1e-10 up to 100 columns.
FEW = 10  # columns: with more, the integrand is narrower
OFFSETS, OFFSETS_OF_FEW = (np.arange(-8.0, 8.0 + 1e-9, spacing) for spacing in (0.25, 0.4))
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
    offsets = OFFSETS_OF_FEW if scaled.shape[1] <= FEW else OFFSETS
    grid = scaled.max(axis=1)[:, None, None] + offsets  # (m, 1, offsets)
    gaps = grid - scaled[:, :, None]  # t - z_j
    logs = log_ndtr(gaps)
    logs = logs.sum(axis=1, keepdims=True) - logs - 0.5 * gaps**2
    mass = np.exp(logs - logs.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def softmax(values: Array) -> Array:
    """Values turned into probabilities that keep their order."""
    return np.exp(values - logsumexp(values, axis=1, keepdims=True))
