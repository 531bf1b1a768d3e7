"""The histograms of a pool, for a learner that never forms their Gram matrix."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.kernels import HistogramIntersection, HistogramOperator
from fewsight.kernels.rows import Rows
from fewsight.learners.histograms import HistogramInput

MOST_KEPT = 2**30  # bytes of kernel values that may be kept
Single = npt.NDArray[np.float32]


@final
class HistogramRows:
    """The histograms of a pool as rows, and the input by which a learner would have got them."""

    def __init__(self, rows: Rows, side: HistogramInput) -> None:
        self.rows, self.side = rows, side

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def operator(self) -> HistogramOperator:
        """The kernel of the pool, without weights and transform."""
        return HistogramOperator.from_rows(self.rows)


@final
class KeptColumns:
    """Columns of the kernel of a pool, kept in single precision for as long as weights and transform stay."""

    def __init__(self, operator: HistogramOperator) -> None:
        self.operator = operator
        self._store: Single = np.empty((0, operator.n), dtype=np.float32)
        self._examples: list[int] = []  # whose columns are the rows of the store

    @property
    def most(self) -> int:
        """How many columns may be kept."""
        return MOST_KEPT // (4 * max(self.operator.n, 1))

    def first(self, positions: Indices, start: int = 0) -> Single:
        """A row for each of these examples, its kernel with the whole pool (n, m): a view, good until the next call.

        Those before `start` are known to be in place.
        """
        place_of = {example: place for place, example in enumerate(self._examples)}
        self._compute(np.array([place for place in positions[start:].tolist() if place not in place_of], dtype=np.intp))
        place_of = {example: place for place, example in enumerate(self._examples)}
        for row in range(start, len(positions)):
            at, other = place_of[int(positions[row])], self._examples[row]
            if at != row:
                self._store[[row, at]] = self._store[[at, row]]
                self._examples[row], self._examples[at] = int(positions[row]), other
                place_of[int(positions[row])], place_of[other] = row, at
        return self._store[: len(positions)]

    def _compute(self, missing: Indices) -> None:
        if not len(missing):
            return
        n = len(self._examples)
        if n + len(missing) > len(self._store):
            larger = np.empty((max(16, 2 * n, n + len(missing)), self.operator.n), dtype=np.float32)
            larger[:n] = self._store[:n]
            self._store = larger
        self._store[n : n + len(missing)] = self.operator.columns(missing).T
        self._examples += missing.tolist()


def comparable(operator: HistogramOperator, rows: Rows) -> Rows:
    """Rows whose plain intersection is the kernel of the operator: transformed, and each column times its weight."""
    changed = operator.transformed(rows)
    return type(changed)(
        (changed.data * operator.weights[changed.indices], changed.indices, changed.indptr), changed.shape
    )


def intersections(rows: Rows, others: Rows) -> Array:
    """Plain intersections of a few rows with a few others (r, s)."""
    if not rows.shape[0] or not others.shape[0]:
        return np.zeros((rows.shape[0], others.shape[0]))
    return HistogramIntersection().gram(rows, others)
