"""Predictions for new histograms in less time than a product takes: what K between new and training rows times V needs is kept.

`SearchTable` is exact and searches in each dimension of a new row; `LookupTable` takes constant time, however many training
rows there are, and interpolates. [Rodner2012, section 4] `TableOnDemand` is exact for a handful of rows, and makes the table
when that costs less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight._compiled import intersection_tables
from fewsight._compiled.intersection_tables import Singles
from fewsight._compiled.sorted_columns import Columns, Ints
from fewsight.kernels.histogram_transforms import Transform
from fewsight.kernels.rows import RowsLike, Sparse
from fewsight.kernels.sorted_histograms import check_columns, checked_histograms

if TYPE_CHECKING:  # the operator makes these tables of itself
    from fewsight.kernels.distributed_histograms import DistributedHistogramOperator
    from fewsight.kernels.histogram_operator import HistogramOperator

MOST_BINS = 100_000
TABLE_BYTES = (
    512 * 2**20
)  # that a look-up table may take; where it would take more, it has single precision, then fewer bins
LEAST_BINS = 8  # with fewer, products are exact
COLUMNS_AT_A_TIME = 16  # of V, in double precision while a table is made
QUICK = (
    20_000_000  # numbers that go into a table, and its entries; with fewer it is made at once, in a tenth of a second
)
BULK = 0.95  # of the non-zeros of a dimension
FINE_SHARE = 0.8  # of the bins, for them
ROUNDING = 4.0  # times the precision of a table: of its entries, with room for that of sums
SEARCH_ROWS = 64  # with more new rows, one sweep over all training rows takes less time than a search for each


@final
class SearchTable:
    """Exact values of K between new rows and training rows times V, one new row at a time by search, many by merging.

    Parameters
    ----------
    operator : of the training rows.
    V : array (n,) or (n, n_columns), what K is multiplied with.
    """

    def __init__(self, operator: HistogramOperator, V: npt.ArrayLike) -> None:
        self._operator, self._given, self._flat = operator, V, np.ndim(V) == 1
        self._numbers = check_columns("V", V, operator.n)
        totals = operator.totals(self._numbers)
        weights = operator.bent_weights
        self._sums = intersection_tables.checkpoints(operator.sorted_values, weights, totals, self._numbers)
        self._roots = operator.root_products(self._numbers) if operator.hellinger else None

    def product(self, X: RowsLike) -> Array:
        """As `operator.product(X, V)`.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.

        Returns
        -------
        array (m,) or (m, n_columns)
            As many columns as V has.
        """
        if np.shape(X)[:1] > (SEARCH_ROWS,):
            return self._operator.product(X, self._given)
        rows, operator = self._operator.transformed(X), self._operator
        kept = operator.sorted_values, operator.bent_weights, self._sums, self._numbers
        result = intersection_tables.searched(*kept, *csr_parts(rows))
        if self._roots is not None:
            result += roots_of(rows) @ self._roots
        return result[:, 0] if self._flat else result


@final
@dataclass(frozen=True, eq=False)
class LookupTable:
    """What each dimension adds to K between a new row and the training rows times V, at some values from 0 to the greatest
    training value of the dimension; straight lines between them.

    Most values of a histogram are far below the greatest: four fifths of the bins divide what is below the BULK of a dimension's
    training values, the others the rest; where values are not that uneven, all bins have one width.

    A share of Hellinger's kernel is added exactly.

    Attributes
    ----------
    table : array of shape width, bins + 1, n_columns: what a dimension adds at each of its places.
    places : array (width, 2), which turns a value into a place.
    flat : whether V was a vector.
    roots : array (width, n_columns), what the roots of transformed values are multiplied with; None without that share.
    transform : g; None without that share.
    """

    table: Array | Singles
    places: Array
    flat: bool
    roots: Array | None = None
    transform: Transform | None = None  # of new rows, where there are roots

    @classmethod
    def from_operator(cls, operator: HistogramOperator, V: npt.ArrayLike, bins: int = 100) -> LookupTable:
        """Tabulate K between anything and the operator's rows times V.

        Parameters
        ----------
        operator : of the training rows.
        V : array (n,) or (n, n_columns), what K is multiplied with.
        bins : into how many each dimension is divided.
        """
        bins = check_integer("LookupTable", "bins", bins, least=1, most=MOST_BINS)
        numbers, width = check_columns("V", V, operator.n), operator.width
        nodes, places = _nodes(operator, bins)
        points = operator.transform(nodes.ravel())
        columns = Columns(np.arange(width + 1) * (bins + 1), np.arange(points.size, dtype=np.uint32), points)
        shape = width, bins + 1, numbers.shape[1]
        table = np.empty(shape, np.float64 if 8 * math.prod(shape) <= TABLE_BYTES else np.float32)
        for first in range(0, numbers.shape[1], COLUMNS_AT_A_TIME):
            some = np.ascontiguousarray(numbers[:, first : first + COLUMNS_AT_A_TIME])
            part = operator.at_points(columns, some, points.size)
            table[:, :, first : first + COLUMNS_AT_A_TIME] = part.reshape(width, bins + 1, some.shape[1])
        straight = (operator.root_products(numbers), operator.transform) if operator.hellinger else ()
        return cls(table, places, np.ndim(V) == 1, *straight)

    @property
    def bins(self) -> int:
        """Into how many bins each dimension is divided."""
        return self.table.shape[1] - 1

    def product(self, X: RowsLike) -> Array:
        """K between new rows X and the training rows, times V, approximately: see `greatest_error`.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.

        Returns
        -------
        array (m,) or (m, n_columns)
            As many columns as V has.
        """
        rows = checked_histograms("X", X, len(self.places))
        result = intersection_tables.looked_up(*csr_parts(rows), self.places, float(_fine(self.bins)), self.table)
        if self.roots is not None and self.transform is not None:
            changed = type(rows)((self.transform(rows.data), rows.indices, rows.indptr), shape=rows.shape)
            result = result + roots_of(changed) @ self.roots
        return result[:, 0] if self.flat else result

    def greatest_error(self, operator: HistogramOperator, V: npt.ArrayLike) -> Array:
        """By how much a product may differ from the exact one, for each column of V, whatever the new row: (n_columns,).

        A line between two places of f_d misses the bend at a training value by a quarter of the bin's width times the weights at
        most, and a dimension is in one bin at a time; what rounding adds is small. `operator` and V are those that the
        table was made from, without a transform.

        Parameters
        ----------
        operator : the kernel that the table was made from.
        V : the columns that the table was made from, n rows.
        """
        if operator.transform.kind != "none":
            raise InvalidInput(
                f"LookupTable: greatest_error is known without a transform only, got {operator.transform.kind!r}."
            )
        numbers = check_columns("V", V, operator.n)
        nodes, _ = _nodes(operator, self.bins)
        masses = intersection_tables.bin_masses(
            operator.sorted_values, self.places, float(_fine(self.bins)), nodes, numbers
        )
        rounded = (
            np.abs(self.table).max(axis=1).sum(axis=0, dtype=np.float64) * ROUNDING * np.finfo(self.table.dtype).eps
        )
        return np.asarray(operator.bent_weights @ masses / 4.0 + rounded, dtype=np.float64)


@final
class TableOnDemand:
    """K between new rows and training rows times V: exact until as many rows were asked about as making a look-up table costs,
    then by table. A small table is made at once.

    Making the table reads every training number, and writes its entries, once for each column; kernel values of a new row read
    every number once at most. So all takes at most twice as long as if it had been known how many rows would come.
    """

    def __init__(self, operator: HistogramOperator | DistributedHistogramOperator, V: Array, bins: int) -> None:
        self._operator, self._V, self._bins = operator, V, bins
        read, written = operator.n_numbers, operator.width * (bins + 1)
        small = (read + written) * V.shape[1] <= QUICK
        self._left = 0 if small else round(V.shape[1] * (1 + written / max(1, read)))

    def product(self, X: RowsLike) -> Array:
        """As `operator.product(X, V)`, exactly or by table."""
        self._left -= np.shape(X)[0]
        return self.table.product(X) if self._left < 0 else few_products(self._operator, X, self._V)

    @cached_property
    def table(self) -> LookupTable:
        """The table; from then on it answers."""
        self._left = -1
        return self._operator.lookup_table(self._V, self._bins)


@final
@dataclass(frozen=True, eq=False)
class ExactProducts:
    """K between new rows and training rows times V, without a table."""

    operator: HistogramOperator | DistributedHistogramOperator
    V: Array

    def product(self, X: RowsLike) -> Array:
        """As `operator.product(X, V)`."""
        few = np.shape(X)[0] <= min(SEARCH_ROWS, self.V.shape[1])
        return few_products(self.operator, X, self.V) if few else self.operator.product(X, self.V)


def few_products(operator: HistogramOperator | DistributedHistogramOperator, X: RowsLike, V: Array) -> Array:
    """As `operator.product(X, V)`, by kernel values: where there are fewer new rows than columns, these take less time."""
    rows = checked_histograms("X", X, operator.width)
    parts = [operator.cross(rows[at : at + SEARCH_ROWS]).T @ V for at in range(0, rows.shape[0], SEARCH_ROWS)]
    return np.concatenate([*parts, np.empty((0, V.shape[1]))])


def bins_within(width: int, bins: int, n_columns: int) -> int:
    """Of the bins that are wanted, how many a look-up table of at most TABLE_BYTES has room for; 0 where they are too few."""
    room = TABLE_BYTES // max(1, 4 * width * n_columns) - 1
    return min(bins, room) if room >= min(bins, LEAST_BINS) else 0


def roots_of(rows: Sparse) -> Sparse:
    """The square roots of all numbers of transformed rows."""
    return type(rows)((np.sqrt(rows.data), rows.indices, rows.indptr), shape=rows.shape)


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
