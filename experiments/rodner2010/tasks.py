"""One split of the images for one target: what it is learned from, what may support it, what it is tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.rodner2010.grams import BACKGROUND
from fewsight._base.types import Array, Indices
from fewsight.metrics import average_precision
from fewsight.transfer import Candidates, TransferGPClassifier

SUPPORT_IMAGES, BACKGROUND_IMAGES, MOST_EXAMPLES = 30, 200, 15


@dataclass(frozen=True)
class Sizes:
    """How many images play which part."""

    support: int = SUPPORT_IMAGES
    background: int = BACKGROUND_IMAGES
    most: int = MOST_EXAMPLES  # examples of the target that are kept out of the test, whatever number is learned from


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the pool's Gram matrix. All categories but the target may support it."""

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

    def learned(self, K: Array, n: int, support: str | None, **options: Any) -> tuple[TransferGPClassifier, Indices]:
        """The target from n examples with one support task or none, and the rows that it was learned from."""
        names = [] if support is None else [support]
        return self._fitted(K, n, names, **options)

    def among(self, K: Array, n: int, names: Sequence[str], **options: Any) -> tuple[TransferGPClassifier, Indices]:
        """The target from n examples with the best of these support tasks, chosen by the learner itself."""
        return self._fitted(K, n, names, **options)

    def with_several(self, K: Array, n: int, names: Sequence[str], **options: Any) -> float:
        """Average precision where all of these lend, their correlations learned by evidence."""
        learner, rows = self._fitted(K, n, names, n_supports=len(names), **options)
        return self.precision(learner.decision_function(K[np.ix_(self.test, rows)]))

    def precision(self, scores: Array) -> float:
        """Average precision on the test images."""
        return average_precision(self.positive, scores)

    def _fitted(self, K: Array, n: int, names: Sequence[str], **options: Any) -> tuple[TransferGPClassifier, Indices]:
        parts = {self.target: self.examples[:n], BACKGROUND: self.background, **{s: self.supports[s] for s in names}}
        rows = np.concatenate(list(parts.values()))
        labels = np.repeat(list(parts), [len(part) for part in parts.values()])
        learner = TransferGPClassifier("precomputed", target=self.target, background=BACKGROUND, **options)
        return learner.fit(K[np.ix_(rows, rows)], labels), rows


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
    supports = {name: rows[: sizes.support] for name, rows in orders.items() if name not in (target, BACKGROUND)}
    return Split(
        target,
        own[: sizes.most],
        background[: sizes.background],
        supports,
        test,
        np.arange(len(test)) < len(own) - kept,
    )
