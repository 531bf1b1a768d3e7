"""Which categories are taken for which, summed over the repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.evaluation.outcomes import Outcome
from fewsight.metrics import confusion_matrix


@dataclass(frozen=True)
class Pair:
    """A category and one that it is taken for."""

    truth: int
    predicted: int
    count: int
    total: int  # test images of the true category

    @property
    def share(self) -> float:
        return self.count / self.total


@dataclass(frozen=True)
class Confusion:
    """Counts by true category (row) and answer (column)."""

    counts: Indices

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], classes: Sequence[str]) -> Confusion:
        matrices = [confusion_matrix(outcome.truth, outcome.predicted, classes) for outcome in outcomes]
        return cls(np.sum(matrices, axis=0))

    @property
    def shares(self) -> Array:
        """Each row as shares of its sum; zeros where a category has no test image."""
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)

    @property
    def recalls(self) -> Array:
        """Share of each category that was recognised; NaN without a test image."""
        return np.where(self.counts.sum(axis=1) > 0, self.shares.diagonal(), np.nan)

    def pairs(self, most: int) -> list[Pair]:
        """The pairs that are confused most, by share of the true category."""
        wrong = np.where(np.eye(len(self.counts), dtype=bool), 0.0, self.shares)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        places = [divmod(int(place), len(self.counts)) for place in order]
        totals = self.counts.sum(axis=1)
        return [Pair(i, j, int(self.counts[i, j]), int(totals[i])) for i, j in places if wrong[i, j] > 0]
