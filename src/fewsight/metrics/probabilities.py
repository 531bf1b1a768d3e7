"""Whether probabilities mean what they say. Rows are examples, columns follow `classes`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.types import Array, Indices
from fewsight.metrics.labels import Labels, check_probabilities, positions

SMALLEST = 1e-15  # a certain error costs 34.5 nats, not infinity


@dataclass(frozen=True)
class ReliabilityBins:
    """Examples grouped by the probability of their most probable class, in bins of equal width over [0, 1]."""

    edges: Array  # (n_bins + 1,)
    counts: Indices  # (n_bins,) examples in each bin
    confidence: Array  # (n_bins,) mean probability of the most probable class; NaN in an empty bin
    accuracy: Array  # (n_bins,) share of examples for which that class was right; NaN in an empty bin


def log_loss(truth: Labels, probabilities: npt.ArrayLike, classes: Labels) -> float:
    """Mean of -ln p(true class), with p clipped away from zero."""
    columns = positions("log_loss", "truth", truth, classes)
    matrix = check_probabilities("log_loss", probabilities, len(columns), len(classes))
    true_class = matrix[np.arange(len(columns)), columns]
    return float(-np.log(np.clip(true_class, SMALLEST, 1.0)).mean())


def reliability_bins(
    truth: Labels, probabilities: npt.ArrayLike, classes: Labels, *, n_bins: int = 15
) -> ReliabilityBins:
    """How often the most probable class was right, by how probable it was. A bin contains its upper edge."""
    n_bins = check_integer("reliability_bins", "n_bins", n_bins, least=1)
    columns = positions("reliability_bins", "truth", truth, classes)
    matrix = check_probabilities("reliability_bins", probabilities, len(columns), len(classes))
    top = matrix.max(axis=1)
    right = (matrix.argmax(axis=1) == columns).astype(np.float64)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = np.clip(np.searchsorted(edges, top, side="left") - 1, 0, n_bins - 1)
    counts = np.bincount(place, minlength=n_bins)
    return ReliabilityBins(edges, counts, _bin_means(place, top, counts), _bin_means(place, right, counts))


def calibration_error(truth: Labels, probabilities: npt.ArrayLike, classes: Labels, *, n_bins: int = 15) -> float:
    """Expected calibration error: |confidence - accuracy| of each bin, weighted by the examples in it."""
    bins = reliability_bins(truth, probabilities, classes, n_bins=n_bins)
    filled = bins.counts > 0
    gaps = np.abs(bins.confidence[filled] - bins.accuracy[filled])
    return float(np.average(gaps, weights=bins.counts[filled]))


def _bin_means(place: Indices, values: Array, counts: Indices) -> Array:
    sums = np.bincount(place, weights=values, minlength=len(counts))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
