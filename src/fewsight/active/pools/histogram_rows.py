"""The histograms of a pool, for a learner that never forms their Gram matrix."""

from __future__ import annotations

import threading
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
    """Columns of the kernel of a pool, kept in single precision for as long as weights and transform stay.

    Several views, in several threads, may share them: what is given out is a copy. Beyond `MOST_KEPT` they are computed again.
    """

    def __init__(self, operator: HistogramOperator) -> None:
        self.operator = operator
        self._kept: dict[int, Single] = {}
        self._lock = threading.Lock()

    @property
    def most(self) -> int:
        """How many columns may be kept."""
        return MOST_KEPT // (4 * max(self.operator.n, 1))

    def of(self, positions: Indices) -> Single:
        """A row for each of these examples, its kernel with the whole pool (n, m)."""
        wanted = positions.tolist()
        with self._lock:
            known = {place: self._kept[place] for place in wanted if place in self._kept}
        missing = [place for place in dict.fromkeys(wanted) if place not in known]
        if missing:
            fresh = self.operator.columns(np.array(missing, dtype=np.intp)).T.astype(np.float32)
            known |= {place: np.ascontiguousarray(row) for place, row in zip(missing, fresh, strict=True)}
            with self._lock:
                room = max(self.most - len(self._kept), 0)
                self._kept |= {place: known[place] for place in missing[:room]}
        rows = np.empty((len(wanted), self.operator.n), dtype=np.float32)
        for row, place in enumerate(wanted):
            rows[row] = known[place]
        return rows


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
