"""Predictions for new histograms in less time than a product takes: what K between new and training rows times V needs is kept.

`SearchTable` is exact and searches in each dimension of a new row; `LookupTable` takes constant time, however many training
rows there are, and interpolates. [Rodner2012, section 4]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Array
from fewsight._compiled import intersection_tables
from fewsight._compiled.sorted_columns import Columns, Ints
from fewsight.kernels.histogram_operator import HistogramOperator, as_given, check_columns
from fewsight.kernels.rows import Sparse
from fewsight.kernels.sorted_histograms import checked_histograms

MOST_BINS = 100_000
SEARCH_ROWS = 64  # with more new rows, one sweep over all training rows takes less time than so many searches


@final
class SearchTable:
    """Exact values of K between new rows and training rows times V, one new row at a time by search, many by merging."""

    def __init__(self, operator: HistogramOperator, V: Any) -> None:
        self._operator, self._given = operator, V
        self._numbers = check_columns("V", V, operator.n)
        totals = operator.totals(self._numbers)
        self._sums = intersection_tables.checkpoints(operator.sorted_values, operator.weights, totals, self._numbers)

    def product(self, X: Any) -> Array:
        """As `operator.product(X, V)`."""
        if np.shape(X)[:1] > (SEARCH_ROWS,):
            return self._operator.product(X, self._given)
        rows, operator = self._operator.transformed(X), self._operator
        kept = operator.sorted_values, operator.weights, self._sums, self._numbers
        return as_given(self._given, intersection_tables.searched(*kept, *csr_parts(rows)))


@final
@dataclass(frozen=True, eq=False)
class LookupTable:
    """What each dimension adds to K between a new row and the training rows times V, at equidistant values from 0 to the
    greatest training value of the dimension; straight lines between them.

    `table` (width, n_bins + 1, n_columns) and `scales` (width), which turns a value into a place; `flat` if V was a vector.
    """

    table: Array
    scales: Array
    flat: bool

    @classmethod
    def from_operator(cls, operator: HistogramOperator, V: Any, bins: int = 100) -> LookupTable:
        """Tabulate K between anything and the operator's rows times V."""
        bins = check_integer("LookupTable", "bins", bins, least=1, most=MOST_BINS)
        numbers, width = check_columns("V", V, operator.n), operator.width
        nodes = np.outer(greatest_values(operator), np.linspace(0.0, 1.0, bins + 1))
        points = operator.transform(nodes.ravel())
        columns = Columns(np.arange(width + 1) * (bins + 1), np.arange(points.size, dtype=np.uint32), points)
        table = operator.at_points(columns, numbers, points.size)
        greatest = nodes[:, -1]
        scales = np.divide(bins, greatest, out=np.zeros_like(greatest), where=greatest > 0)
        return cls(table.reshape(width, bins + 1, numbers.shape[1]), scales, np.ndim(V) == 1)

    def product(self, X: Any) -> Array:
        """K between new rows X and the training rows, times V, approximately."""
        rows = checked_histograms("X", X, len(self.scales))
        result = intersection_tables.looked_up(*csr_parts(rows), self.scales, self.table)
        return result[:, 0] if self.flat else result


def csr_parts(rows: Sparse) -> tuple[Ints, Ints, Array]:
    """Where rows start, dimensions and values, as compiled loops read them."""
    return rows.indptr.astype(np.int64), rows.indices, rows.data


def greatest_values(operator: HistogramOperator) -> Array:
    """The greatest value of each dimension before the transform; 0 where it is empty."""
    starts, _, values = operator.histograms.columns
    last = np.concatenate([[0.0], values])[starts[1:]]
    return np.where(np.diff(starts) > 0, last, 0.0)
