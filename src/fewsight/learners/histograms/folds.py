"""Which training examples to leave out of a large set, so that the rest predicts them as it would predict new images.

Each fold takes the same share of every class and costs a training of its own, so that a few folds are left out one after the
other until there are some hundreds of examples; examples that are exactly alike go out together.
"""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Indices
from fewsight.kernels import HistogramOperator
from fewsight.learners.folds import MOST_FOLDS, class_folds, predictable
from fewsight.learners.histograms.posterior import HistogramPosterior

EXAMPLES = 600  # left out altogether, or a little more: two numbers are fitted to them, and a quantile is taken


def left_out_folds(posterior: HistogramPosterior) -> list[Indices]:
    """Training examples to leave out together, fold by fold; each still has its class among the rest."""
    classes = posterior.classes
    folds = class_folds(classes, identical(posterior.operator))
    possible = predictable(classes, folds)
    chosen: list[Indices] = []
    for fold in range(int(folds.max(initial=-1)) + 1):
        members = np.flatnonzero(folds == fold)
        if sum(map(len, chosen)) >= EXAMPLES:
            break
        if np.isin(members, possible).any():
            chosen.append(members)
    return [np.intersect1d(members, possible) for members in chosen]


def columns_to_calibrate(classes: Indices, n_noises: int) -> int:
    """About how many systems of linear equations leaving out these folds will take."""
    counts = np.bincount(classes)
    n_folds = min(int(counts.max()), MOST_FOLDS)
    needed = min(n_folds, int(np.ceil(EXAMPLES * n_folds / len(classes))))
    columns = 1 if len(counts) == 2 else len(counts)
    return needed * (columns + n_noises)


def identical(operator: HistogramOperator) -> Indices:
    """A number for each example, the same for examples with the same row."""
    generator = np.random.default_rng(0)
    projections = operator @ generator.standard_normal((operator.n, 2))  # rows that differ differ here
    keys = np.column_stack([operator.diag(), projections])
    scale = np.abs(keys).max(axis=0, initial=1e-300)
    return np.unique(np.round(keys / scale, 10), axis=0, return_inverse=True)[1].ravel().astype(np.intp)
