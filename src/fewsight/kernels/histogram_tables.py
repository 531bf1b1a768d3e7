"""Predictions for new histograms in less time than a product takes: what K between new and training rows times V needs is kept.

`SearchTable` is exact and searches in each dimension of a new row; `LookupTable` takes constant time, however many training
rows there are, and interpolates. [Rodner2012, section 4]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.types import Array
from fewsight._compiled import intersection_tables
from fewsight._compiled.sorted_columns import Columns, Ints
from fewsight.kernels.rows import RowsLike, Sparse
from fewsight.kernels.sorted_histograms import check_columns, checked_histograms

if TYPE_CHECKING:  # the operator makes these tables of itself
    from fewsight.kernels.distributed_histograms import DistributedHistogramOperator
    from fewsight.kernels.histogram_operator import HistogramOperator

MOST_BINS = 100_000
TABLE_BYTES = 512 * 2**20  # that a look-up table may take; where it would take more, products are exact
BULK = 0.95  # of the non-zeros of a dimension
FINE_SHARE = 0.8  # of the bins, for them
SEARCH_ROWS = 64  # with more new rows, one sweep over all training rows takes less time than a search for each


@final
class SearchTable:
    """Exact values of K between new rows and training rows times V, one new row at a time by search, many by merging."""

    def __init__(self, operator: HistogramOperator, V: npt.ArrayLike) -> None:
        self._operator, self._given, self._flat = operator, V, np.ndim(V) == 1
        self._numbers = check_columns("V", V, operator.n)
        totals = operator.totals(self._numbers)
        self._sums = intersection_tables.checkpoints(operator.sorted_values, operator.weights, totals, self._numbers)

    def product(self, X: RowsLike) -> Array:
        """As `operator.product(X, V)`."""
        if np.shape(X)[:1] > (SEARCH_ROWS,):
            return self._operator.product(X, self._given)
        rows, operator = self._operator.transformed(X), self._operator
        kept = operator.sorted_values, operator.weights, self._sums, self._numbers
        result = intersection_tables.searched(*kept, *csr_parts(rows))
        return result[:, 0] if self._flat else result


@final
@dataclass(frozen=True, eq=False)
class LookupTable:
    """What each dimension adds to K between a new row and the training rows times V, at some values from 0 to the greatest
    training value of the dimension; straight lines between them.

    Most values of a histogram are far below the greatest: four fifths of the bins divide what is below the BULK of a dimension's
    training values, the others the rest; where values are not that uneven, all bins have one width. `table` (width, n_bins + 1,
    n_columns) and `places` (width, 2), which turn a value into a place (see `looked_up`); `flat` if V was a vector.
    """

    table: Array
    places: Array
    flat: bool

    @classmethod
    def from_operator(cls, operator: HistogramOperator, V: npt.ArrayLike, bins: int = 100) -> LookupTable:
        """Tabulate K between anything and the operator's rows times V."""
        bins = check_integer("LookupTable", "bins", bins, least=1, most=MOST_BINS)
        numbers, width = check_columns("V", V, operator.n), operator.width
        nodes, places = _nodes(operator, bins)
        points = operator.transform(nodes.ravel())
        columns = Columns(np.arange(width + 1) * (bins + 1), np.arange(points.size, dtype=np.uint32), points)
        table = operator.at_points(columns, numbers, points.size)
        return cls(table.reshape(width, bins + 1, numbers.shape[1]), places, np.ndim(V) == 1)

    def product(self, X: RowsLike) -> Array:
        """K between new rows X and the training rows, times V, approximately."""
        rows = checked_histograms("X", X, len(self.places))
        fine = float(_fine(self.table.shape[1] - 1))
        result = intersection_tables.looked_up(*csr_parts(rows), self.places, fine, self.table)
        return result[:, 0] if self.flat else result


@final
@dataclass(frozen=True, eq=False)
class ExactProducts:
    """K between new rows and training rows times V, without a table."""

    operator: HistogramOperator | DistributedHistogramOperator
    V: Array

    def product(self, X: RowsLike) -> Array:
        """As `operator.product(X, V)`."""
        return self.operator.product(X, self.V)


def table_fits(width: int, bins: int, V: Array) -> bool:
    """Whether a look-up table for the columns V is small enough to keep."""
    return 8 * width * (bins + 1) * V.shape[1] <= TABLE_BYTES


def csr_parts(rows: Sparse) -> tuple[Ints, Ints, Array]:
    """Where rows start, dimensions and values, as compiled loops read them."""
    return rows.indptr.astype(np.int64), rows.indices, rows.data


def _fine(bins: int) -> int:
    return round(FINE_SHARE * bins)


def _nodes(operator: HistogramOperator, bins: int) -> tuple[Array, Array]:
    """The values in the table (width, bins + 1), before the transform, and what turns a value into its place (width, 2)."""
    bulk, greatest = _quantiles(operator, BULK), _quantiles(operator, 1.0)
    fine = _fine(bins)
    uneven = (fine < bins) & (bulk * bins < fine * greatest)
    steep = np.where(uneven, _divided(fine, bulk), _divided(bins, greatest))
    slope = np.where(uneven, _divided((bins - fine) / fine * bulk, greatest - bulk), 1.0)
    numbers = np.arange(bins + 1)
    beyond = np.maximum(numbers - fine, 0)
    nodes = _divided(numbers - beyond + beyond / slope[:, None], steep[:, None])
    nodes[:, -1] = greatest  # in spite of rounding
    return np.minimum(nodes, greatest[:, None]), np.column_stack([steep, slope])


def _divided(a: float | npt.NDArray[np.number], b: Array) -> Array:
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), b.shape)), where=b > 0)


def _quantiles(operator: HistogramOperator, share: float) -> Array:
    """The value that a share of each dimension's non-zeros do not exceed, before the transform; 0 where there are none."""
    starts, _, values = operator.histograms.columns
    counts = np.diff(starts)
    ends = starts[:-1] + np.ceil(share * counts).astype(np.int64)
    return np.where(counts > 0, np.concatenate([[0.0], values])[ends], 0.0)
