"""Which training examples to leave out together, so that the rest predicts them as it would predict new images.

Leaving out one example at a time makes its class smaller than all others, which biases a few-shot learner against it. So a fold
takes one example of every class, or the same share of it. Near-duplicates go out together: else one would answer for the other.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fewsight._base.types import Array, Indices

MOST_FOLDS = 20
# Of the median squared distance: of examples of different classes, and of examples of one class. On Caltech-101 with
# spatial_pmk these are cosines of about 0.98 and 0.92.
NEAR_DUPLICATE = (0.02, 0.125)


def near_duplicates(K: Array, classes: Indices) -> Indices:
    """A number for each example, the same for examples that are joined by a chain of near-duplicates.

    Two examples show the same thing if they are far closer than examples of different classes are, or much closer than those of
    one class. Distances, unlike cosines, mean the same for a kernel that finds everything alike.
    """
    lengths = K.diagonal()
    squared = np.maximum(lengths[:, None] + lengths[None, :] - 2 * K, 0.0)
    pairs = np.tri(len(K), k=-1, dtype=bool)
    same = classes[:, None] == classes[None, :]
    groups = [squared[pairs & (same == together)] for together in (False, True)]
    limits = [
        share * float(np.median(group)) for share, group in zip(NEAR_DUPLICATE, groups, strict=True) if len(group)
    ]
    rows, columns = np.nonzero(pairs & (squared <= max(limits, default=0.0)))
    graph = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=K.shape)
    return connected_components(graph, directed=False)[1].astype(np.intp)


def class_folds(classes: Indices, groups: Indices) -> Indices:
    """A fold for each example: each fold takes an equal share of the groups of every class."""
    first_of_group = np.unique(groups, return_index=True)[1]
    class_of_group = classes[first_of_group]
    sizes = np.bincount(class_of_group)
    n_folds = int(np.clip(sizes.max(), 1, MOST_FOLDS))
    fold_of_group = np.empty(len(class_of_group), np.intp)
    for label, size in enumerate(sizes):
        fold_of_group[class_of_group == label] = np.arange(size) * n_folds // max(size, n_folds)
    return fold_of_group[groups]


def predictable(classes: Indices, folds: Indices) -> Indices:
    """The examples whose class is still there when their fold is left out: only they can be predicted right."""
    total = np.bincount(classes)
    inside = np.zeros((len(total), folds.max(initial=0) + 1), np.intp)
    np.add.at(inside, (classes, folds), 1)
    return np.flatnonzero(total[classes] > inside[classes, folds])


def left_out_folds(K: Array, classes: Indices) -> tuple[Indices, Indices]:
    """A fold for each example, near-duplicates together, and the examples that can be predicted without theirs."""
    folds = class_folds(classes, near_duplicates(K, classes))
    return folds, predictable(classes, folds)


def accuracy_of_left_out(mean: Array, classes: Indices) -> float | None:
    """Of latent means (n, c) of examples that were left out one by one: the mean over the classes that have two or more."""
    right = mean.argmax(axis=1) == classes
    sizes, hits = (np.bincount(classes, weights, mean.shape[1]) for weights in (None, right))
    several = sizes > 1
    return float(np.mean(hits[several] / sizes[several])) if several.any() else None
