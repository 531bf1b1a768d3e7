"""Average precision and ROC area of many rankings of the same examples at once; the last side but one holds the examples.

Both follow the definitions of `ranking`: examples of equal score share a threshold. Positives are few and are walked through
one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array


def average_precisions(positive: npt.NDArray[np.bool_], scores: Array) -> Array:
    """Of scores (..., m, G) whose examples (m,) are positive or not: (..., G); 1 without a negative, 0 without a positive."""
    total = np.zeros(scores.shape[:-2] + scores.shape[-1:])
    for position in np.flatnonzero(positive):
        above = scores >= scores[..., position : position + 1, :]
        total += above[..., positive, :].sum(axis=-2) / above.sum(axis=-2)
    return total / max(1, int(positive.sum()))


def roc_areas(positive: npt.NDArray[np.bool_], scores: Array) -> Array:
    """As `average_precisions`, the share of pairs in the right order, ties counting half; 1/2 where there are no pairs."""
    total = np.zeros(scores.shape[:-2] + scores.shape[-1:])
    negatives = scores[..., ~positive, :]
    pairs = int(positive.sum()) * negatives.shape[-2]
    for position in np.flatnonzero(positive):
        own = scores[..., position : position + 1, :]
        total += (own > negatives).sum(axis=-2) + 0.5 * (own == negatives).sum(axis=-2)
    return total / pairs if pairs else total + 0.5
