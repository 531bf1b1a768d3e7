"""Which training examples to leave out of a large set, so that the rest predicts them as it would predict new images.

Each fold takes the same share of every class and costs a training of its own, so that a few folds are left out one after the
other until there are some hundreds of examples and, of few classes, dozens of the rarest; examples that are exactly alike go out
together.
"""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Indices
from fewsight.kernels import HistogramOperator
from fewsight.learners.folds import MOST_FOLDS, class_folds, predictable

EXAMPLES = 600  # left out altogether, or a little more: two numbers are fitted to them, and a quantile is taken
RAREST = 30  # of a class, where that costs no more than MOST_COLUMNS systems: what decides for it is learned from them
MOST_COLUMNS = 24


def left_out_folds(operator: HistogramOperator, classes: Indices, most_folds: int | None = None) -> list[Indices]:
    """Training examples to leave out together, fold by fold; each still has its class among the rest.

    With `most_folds` all examples are in so few folds, which are large then.
    """
    folds = class_folds(classes, identical(operator))
    folds = folds if most_folds is None else folds % most_folds
    possible = predictable(classes, folds)
    chosen: list[Indices] = []
    for fold in range(int(folds.max(initial=-1)) + 1):
        members = np.flatnonzero(folds == fold)
        if sum(map(len, chosen)) >= EXAMPLES and not _few_of_a_class(classes, chosen):
            break
        if np.isin(members, possible).any():
            chosen.append(members)
    return [np.intersect1d(members, possible) for members in chosen]


def _few_of_a_class(classes: Indices, chosen: list[Indices]) -> bool:
    """Whether some class could be left out more often at little cost."""
    counts = np.bincount(classes[np.concatenate(chosen)], minlength=int(classes.max()) + 1)
    columns = 2 if len(counts) == 2 else len(counts) + 1
    return bool(counts.min() < RAREST and (len(chosen) + 1) * columns <= MOST_COLUMNS)


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
