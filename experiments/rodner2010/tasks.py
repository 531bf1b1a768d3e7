"""One split of the images for one target: what it is learned from, what may support it, what it is tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.rodner2010.grams import BACKGROUND, sharing
from fewsight._base.types import Array, Indices
from fewsight.metrics import average_precision
from fewsight.transfer import Candidates, TransferGPClassifier

DEFAULT = "separation"
SUPPORT_IMAGES, BACKGROUND_IMAGES, MOST_EXAMPLES = 30, 200, 15


@dataclass(frozen=True)
class Sizes:
    """How many images play which part."""

    support: int = SUPPORT_IMAGES
    background: int = BACKGROUND_IMAGES
    most: int = MOST_EXAMPLES  # examples of the target that are kept out of the test, whatever number is learned from


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the pool's Gram matrix. All categories may support the target that show none of its photographs."""

    target: str
    examples: Indices  # of the target, to learn from; the first n
    background: Indices
    supports: dict[str, Indices]
    test: Indices
    positive: npt.NDArray[np.bool_]  # of the test images

    def candidates(self, K: Array, n: int, names: Sequence[str] | None = None) -> Candidates:
        """The target with n examples, and its support tasks."""
        rows = np.concatenate([self.examples[:n], self.background])
        targets = np.where(np.arange(len(rows)) < n, 1.0, -1.0)
        return Candidates(K, rows, targets, [self.supports[name] for name in names or self.supports])

    def among(self, K: Array, n: int, names: Sequence[str], **options: Any) -> tuple[TransferGPClassifier, Indices]:
        """The target from n examples with what these support tasks lend, and the rows that it was learned from."""
        parts = {self.target: self.examples[:n], BACKGROUND: self.background, **{s: self.supports[s] for s in names}}
        rows = np.concatenate(list(parts.values()))
        labels = np.repeat(list(parts), [len(part) for part in parts.values()])
        learner = TransferGPClassifier("precomputed", target=self.target, background=BACKGROUND, **options)
        return learner.fit(K[np.ix_(rows, rows)], labels), rows

    def averaged(self, K: Array, n: int, names: Sequence[str]) -> tuple[Array, str, float]:
        """What `among` finds with nothing set, without a matrix of all examples: scores of the test images less no offset, who
        lends most, and its mean correlation."""
        candidates = self.candidates(K, n, names)
        found, _ = candidates.average(DEFAULT)
        scores = K[np.ix_(self.test, candidates.target)] @ found.own
        for support, weights in zip(candidates.supports, found.lent, strict=True):
            scores += K[np.ix_(self.test, support)] @ weights
        most = int(found.shares.argmax())
        return scores, names[most], float(found.rho[most])

    def precision(self, scores: Array) -> float:
        """Average precision on the test images."""
        return average_precision(self.positive, scores)


def draw(
    labels: npt.NDArray[Any], target: str, seed: int, sizes: Sizes | None = None, fitted: Indices | None = None
) -> Split:
    """The same seed shuffles every category alike for all targets. Rows that a channel was fitted on never are test images."""
    sizes = sizes or Sizes()
    rng = np.random.default_rng(seed)
    orders = {}
    for label in sorted(set(labels)):
        order = rng.permutation(np.flatnonzero(labels == label))
        if fitted is not None:
            order = np.concatenate([order[np.isin(order, fitted)], order[~np.isin(order, fitted)]])
        orders[label] = order
    own, background = orders[target], orders[BACKGROUND]
    kept = sizes.most if fitted is None else max(sizes.most, int(np.isin(own, fitted).sum()))
    test = np.concatenate([own[kept:], background[sizes.background :]])
    not_lending = {target, BACKGROUND, *sharing(target)}
    supports = {name: rows[: sizes.support] for name, rows in orders.items() if name not in not_lending}
    return Split(
        target,
        own[: sizes.most],
        background[: sizes.background],
        supports,
        test,
        np.arange(len(test)) < len(own) - kept,
    )
