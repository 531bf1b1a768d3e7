"""Which training examples to leave out together, so that the rest predicts them as it would predict new images.

Leaving out one example at a time makes its class smaller than all others, which biases a few-shot learner against it. So a fold
takes one example of every class, or the same share of it. Images of the same picture and near-duplicates go out together:
else one would answer for the other.

Classes are numbers; -1 stands for an example that belongs to none, which is never predicted and counts as one more class.

Of a large set each fold costs a training of its own. So only a few folds are left out, one after the other, until there are some
hundreds of examples and, of few classes, dozens of the rarest; examples that are exactly alike go out together.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fewsight._base.types import Array, Indices
from fewsight.gp import LinearOperator

MOST_FOLDS = 20
# Of the median squared distance: of examples of different classes, and of examples of one class. On Caltech-101 with
# spatial_pmk these are cosines of about 0.98 and 0.92.
NEAR_DUPLICATE = (0.02, 0.125)
LONGEST = 4.0  # limits between the ends of a chain; on 582 draws of the bench of domains no chain was longer than 1.5
STEP, ALIKE = 2.0, 1e-6  # a longer one is tried with half of the limit, and so on down to this share of it
EXAMPLES = (
    600  # of a large set that are left out, or a little more: two numbers are fitted to them, and a quantile is taken
)
RAREST = 30  # of a class, where that costs no more than MOST_COLUMNS systems: what decides for it is learned from them
MOST_COLUMNS = 24


def near_duplicates(K: Array, classes: Indices, pictures: Indices | None = None) -> Indices:
    """A number for each example, the same for examples that are joined by a chain of near-duplicates.

    Where examples are images, `pictures` (n,) numbers the picture that each shows: those of one picture are duplicates.

    Two examples show the same thing if they are far closer than examples of different classes are, or much closer than those of
    one class. Distances, unlike cosines, mean the same for a kernel that finds everything alike. Where examples lie densely, as
    rows of a few numbers do, chains of neighbours would lead from one end of a class to the other: a chain whose ends are far
    apart is none of one thing, and falls into parts of nearer neighbours.
    """
    lengths = K.diagonal()
    squared = np.maximum(lengths[:, None] + lengths[None, :] - 2 * K, 0.0)
    pairs = np.tri(len(K), k=-1, dtype=bool)
    same = (classes[:, None] == classes[None, :]) & (classes >= 0)
    groups = [squared[pairs & (same == together)] for together in (False, True)]
    limits = [
        share * float(np.median(group)) for share, group in zip(NEAR_DUPLICATE, groups, strict=True) if len(group)
    ]
    limit = max(limits, default=0.0)
    alike = _chains(squared, limit, least=ALIKE * limit)
    return alike if pictures is None else _joined(alike, pictures)


def _chains(squared: Array, limit: float, least: float) -> Indices:
    """A number for each example, the same for those that are joined by a chain of neighbours within the limit, as far as no chain
    is longer than LONGEST; longer ones by a smaller limit, down to the least."""
    rows, columns = np.nonzero(np.tri(len(squared), k=-1, dtype=bool) & (squared <= limit))
    graph = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=squared.shape)
    groups = connected_components(graph, directed=False)[1].astype(np.intp)
    if limit <= least:
        return groups
    sizes = np.bincount(groups)
    n_groups = len(sizes)
    for members in np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1]):
        among = squared[np.ix_(members, members)] if len(members) > 2 else squared[:0]
        if among.max(initial=0.0) > LONGEST * limit:
            parts = _chains(among, limit / STEP, least)
            groups[members] = np.where(parts > 0, n_groups + parts, groups[members])
            n_groups += int(parts.max()) + 1
    return _renumbered(groups)


def _renumbered(groups: Indices) -> Indices:
    """The same groups, numbered in the order in which they come."""
    _, first, places = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places.ravel()], dtype=np.intp)


def class_folds(classes: Indices, groups: Indices) -> Indices:
    """A fold for each example: each fold takes an equal share of the groups of every class, and of the examples of none."""
    first_of_group = np.unique(groups, return_index=True)[1]
    class_of_group = np.where(classes < 0, classes.max(initial=-1) + 1, classes)[first_of_group]
    sizes = np.bincount(class_of_group)
    n_folds = int(np.clip(sizes.max(), 1, MOST_FOLDS))
    fold_of_group = np.empty(len(class_of_group), np.intp)
    for label, size in enumerate(sizes):
        fold_of_group[class_of_group == label] = np.arange(size) * n_folds // max(size, n_folds)
    return fold_of_group[groups]


def predictable(classes: Indices, folds: Indices) -> Indices:
    """The examples whose class is still there when their fold is left out: only they can be predicted right."""
    known = np.flatnonzero(classes >= 0)
    classes, folds = classes[known], folds[known]
    total = np.bincount(classes)
    inside = np.zeros((len(total), folds.max(initial=0) + 1), np.intp)
    np.add.at(inside, (classes, folds), 1)
    return known[total[classes] > inside[classes, folds]]


def left_out_folds(K: Array, classes: Indices, pictures: Indices | None = None) -> tuple[Indices, Indices]:
    """A fold for each example, near-duplicates together, and the examples that can be predicted without theirs."""
    folds = class_folds(classes, near_duplicates(K, classes, pictures))
    return folds, predictable(classes, folds)


def accuracy_of_left_out(mean: Array, classes: Indices, pictures: Indices | None = None) -> float | None:
    """Of latent means (n, c) of examples that were left out one by one: the mean over the classes that have two or more.

    With `pictures` all examples of a picture were left out together, and a class must have two of those.
    """
    kept = predictable(classes, np.arange(len(classes)) if pictures is None else pictures)
    right = mean.argmax(axis=1) == classes
    sizes, hits = (np.bincount(classes[kept], weights, mean.shape[1]) for weights in (None, right[kept]))
    several = sizes > 0
    return float(np.mean(hits[several] / sizes[several])) if several.any() else None


def sampled_folds(
    operator: LinearOperator,
    classes: Indices,
    most_folds: int | None = None,
    pictures: Indices | None = None,
    rarest: int = RAREST,
) -> list[Indices]:
    """Some training examples of a large set, fold by fold, to leave out together; each still has its class among the rest.

    With `most_folds` all examples are in at most that many folds, which are large then. Where examples are images, `pictures`
    (n,) numbers the picture that each shows. `rarest` examples of every class are left out, where there are so many and where
    that costs little.
    """
    groups = identical(operator)
    folds = class_folds(classes, groups if pictures is None else _joined(groups, pictures))
    folds = folds if most_folds is None else folds % most_folds
    possible = predictable(classes, folds)
    chosen: list[Indices] = []
    for fold in range(int(folds.max(initial=-1)) + 1):
        members = np.flatnonzero(folds == fold)
        if sum(map(len, chosen)) >= EXAMPLES and not _few_of_a_class(classes, chosen, rarest):
            break
        if np.isin(members, possible).any():
            chosen.append(members)
    return [np.intersect1d(members, possible) for members in chosen]


def _joined(groups: Indices, others: Indices) -> Indices:
    """The groups (n,) that come of joining all examples that are together in either, in the order of `groups`."""
    n, k = len(groups), int(groups.max(initial=-1)) + 1
    ends = n + np.concatenate([groups, k + others])  # an example is joined to a node for each group it is in
    size = int(ends.max(initial=n - 1)) + 1
    graph = csr_array((np.ones(2 * n, bool), (np.tile(np.arange(n), 2), ends)), shape=(size, size))
    joined = connected_components(graph, directed=False)[1][:n]
    least = np.full(n, k)
    np.minimum.at(least, joined, groups)
    return np.unique(least[joined], return_inverse=True)[1].ravel().astype(np.intp)


def _few_of_a_class(classes: Indices, chosen: list[Indices], least: int) -> bool:
    """Whether some class could be left out more often at little cost."""
    left_out = classes[np.concatenate(chosen)]
    counts = np.bincount(left_out[left_out >= 0], minlength=int(classes.max()) + 1)
    columns = 2 if len(counts) == 2 else len(counts) + 1
    return bool(counts.min() < least and (len(chosen) + 1) * columns <= MOST_COLUMNS)


def columns_to_calibrate(classes: Indices, n_noises: int) -> int:
    """About how many systems of linear equations leaving out these folds will take."""
    counts = np.bincount(classes[classes >= 0])
    n_folds = min(int(counts.max()), MOST_FOLDS)
    needed = min(n_folds, int(np.ceil(EXAMPLES * n_folds / len(classes))))
    columns = 1 if len(counts) == 2 else len(counts)
    return needed * (columns + n_noises)


def identical(operator: LinearOperator) -> Indices:
    """A number for each example, the same for examples with the same row."""
    generator = np.random.default_rng(0)
    projections = operator @ generator.standard_normal((operator.n, 2))  # rows that differ differ here
    keys = np.column_stack([operator.diag(), projections])
    scale = np.abs(keys).max(axis=0, initial=1e-300)
    return np.unique(np.round(keys / scale, 10), axis=0, return_inverse=True)[1].ravel().astype(np.intp)
