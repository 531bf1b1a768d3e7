"""The histogram intersection kernel of many rows to multiply with: K itself is never formed. [Rodner2012, section 4]

A share of it may be Hellinger's kernel sum_d sqrt(x_d z_d), the inner product of the square roots of two rows: it has the same
diagonal, and what is learned of a dimension is a straight line in the root of its value, where intersection bends at every
training value.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.checks import check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.types import Array
from fewsight._compiled import histogram_intersection
from fewsight._compiled.column_totals import column_totals
from fewsight._compiled.intersection_cross import cross
from fewsight._compiled.intersection_inners import inners
from fewsight._compiled.intersection_points import at_points
from fewsight._compiled.intersection_product import product
from fewsight._compiled.sorted_columns import Columns
from fewsight.kernels.histogram_tables import ExactProducts, LookupTable, TableOnDemand, bins_within, roots_of
from fewsight.kernels.histogram_transforms import Plain, Transform, transform_named
from fewsight.kernels.rows import RowsLike, Sparse
from fewsight.kernels.sorted_histograms import OWNER, SortedHistograms, check_columns, checked_histograms

ROUNDED_ROWS = 512  # of K that are made at a time
BATCH_NUMBERS = 2_000_000  # non-zeros of new rows that are sorted at a time


@final
@dataclass(frozen=True, eq=False)
class HistogramOperator:
    """K(x, z) = sum_d w_d [(1 - h) min(g(x_d), g(z_d)) + h sqrt(g(x_d) g(z_d))] between n rows, with the share h of Hellinger's
    kernel (0 unless it is given); `operator @ V` takes time proportional to the non-zeros.

    Made by `HistogramOperator.from_rows(X)`. Other weights, transforms and shares use the same sorted rows; nothing is sorted
    again and nothing changes in place.

    Attributes
    ----------
    histograms : the rows, each dimension sorted.
    weights : array (width,), one number >= 0 for each dimension.
    transform : g.
    sorted_values : g of the sorted values.
    hellinger : the share h, from 0 to 1.
    """

    histograms: SortedHistograms
    weights: Array
    transform: Transform
    sorted_values: Columns
    hellinger: float = 0.0

    @classmethod
    def from_rows(
        cls,
        X: RowsLike,
        *,
        transform: str = "none",
        parameter: float | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> HistogramOperator:
        """The operator of an array or SciPy sparse matrix of finite numbers >= 0; all weights are 1 if None are given.

        Parameters
        ----------
        X : array or sparse matrix (n, width), finite numbers >= 0.
        transform : 'none', 'power' or 'exponential'.
        parameter : of the transform; None for its default.
        weights : array (width,), finite numbers >= 0; None for ones.
        """
        histograms = SortedHistograms.from_sparse(checked_histograms("X", X))
        plain = cls(histograms, np.ones(histograms.width), Plain(), histograms.columns)
        weighted = plain if weights is None else plain.with_weights(weights)
        return weighted if transform == "none" and parameter is None else weighted.with_transform(transform, parameter)

    @property
    def n(self) -> int:
        """How many rows K has."""
        return self.histograms.n

    @property
    def width(self) -> int:
        """How many dimensions the histograms have."""
        return self.histograms.width

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def n_numbers(self) -> int:
        """How many numbers of the rows are not zero."""
        return len(self.sorted_values.values)

    @property
    def nbytes(self) -> int:
        """The memory of all arrays; a transform adds 8 bytes a non-zero, and using a share of Hellinger's kernel 12 more."""
        values = self.sorted_values.values
        own = 0 if values is self.histograms.columns.values else values.nbytes
        return self.histograms.nbytes + self.weights.nbytes + own

    @property
    def _slopes(self) -> Columns:
        """The derivative of g by its parameter, of the sorted values."""
        columns = self.histograms.columns
        return columns._replace(values=self.transform.derivative(columns.values))

    def with_weights(self, weights: npt.ArrayLike) -> HistogramOperator:
        """The same with one weight >= 0 for each dimension.

        Parameters
        ----------
        weights : array (width,), finite numbers >= 0.
        """
        return dataclasses.replace(self, weights=check_weights(weights, len(self.weights)))

    def with_transform(self, name: str, parameter: float | None = None) -> HistogramOperator:
        """The same with another g: 'none', 'power' (x^parameter) or 'exponential'.

        Parameters
        ----------
        name : 'none', 'power' (x^parameter) or 'exponential'.
        parameter : of the transform; None for its default.
        """
        transform, columns = transform_named(name, parameter), self.histograms.columns
        changed = columns._replace(values=transform(columns.values))
        return dataclasses.replace(self, transform=transform, sorted_values=changed)

    def with_hellinger(self, share: float) -> HistogramOperator:
        """The same with this share of Hellinger's kernel.

        Parameters
        ----------
        share : from 0 to 1.
        """
        return dataclasses.replace(self, hellinger=check_number(OWNER, "share", share, least=0, most=1))

    def append(self, X: RowsLike) -> HistogramOperator:
        """The operator of these rows and then those of X, without sorting all again.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.
        """
        histograms = self.histograms.append(X)
        columns = histograms.columns._replace(values=self.transform(histograms.columns.values))
        return dataclasses.replace(self, histograms=histograms, sorted_values=columns)

    def __matmul__(self, V: npt.ArrayLike) -> Array:
        """K v or K V, for a vector of n numbers or a matrix of n rows."""
        numbers = check_columns("V", V, self.n)
        if self.hellinger == 1:
            result = np.asarray(self._roots @ self.root_products(numbers))
        else:
            totals, order = self.totals(numbers), self.histograms.order
            result = product(self.sorted_values, order, self.bent_weights, totals, numbers)
            if self.hellinger:
                result += self._roots @ self.root_products(numbers)
        return result[:, 0] if np.ndim(V) == 1 else result

    def diag(self) -> Array:
        """K(x, x) of each row."""
        columns = self.sorted_values
        weighted = columns.values * np.repeat(self.weights, np.diff(columns.starts))
        return np.asarray(np.bincount(columns.rows, weighted, minlength=self.n), dtype=np.float64)

    def trace(self) -> float:
        """The sum of `diag()`."""
        return float(self.weights @ self.dimension_traces())

    def dimension_traces(self, counts: npt.ArrayLike | None = None) -> Array:
        """For each dimension the trace of its part of K, without its weight: what the trace gains for a unit of weight.

        Parameters
        ----------
        counts : array (n,), how often each row counts; None for once.

        Returns
        -------
        array (width,)
            With `counts`, the sum over rows of counts times the diagonal.
        """
        columns = self.sorted_values
        if counts is None:
            return _sums_by_dimension(columns)
        numbers = check_columns("counts", counts, self.n)[:, 0]
        return _sums_by_dimension(columns._replace(values=columns.values * numbers[columns.rows]))

    def transform_trace(self) -> float:
        """What the trace gains for a unit of the transform's parameter."""
        return float(self.weights @ _sums_by_dimension(self._slopes))

    def weight_inners(self, U: npt.ArrayLike, V: npt.ArrayLike) -> Array:
        """For each dimension d the sum over columns k of u_k^T K_d v_k, without its weight: the slope in w_d of u^T K v.

        Parameters
        ----------
        U : array (n,) or (n, n_columns), of the same shape as V.
        V : array (n,) or (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (width,)
            A sum for each dimension.
        """
        inners_of_bends = (1.0 - self.hellinger) * self._inners(self.sorted_values, U, V)
        if not self.hellinger:
            return inners_of_bends
        left, right = (np.asarray(self._roots.T @ check_columns("V", each, self.n)) for each in (U, V))
        return inners_of_bends + self.hellinger * np.einsum("ij,ij->i", left, right)

    def transform_inner(self, U: npt.ArrayLike, V: npt.ArrayLike) -> float:
        """The sum over columns k of u_k^T K' v_k, K' being the derivative of K by the transform's parameter.

        The smaller of two values stays the smaller, so K' has the derivative of g where K has g. Without a share of Hellinger's
        kernel, for which that does not hold.

        Parameters
        ----------
        U : array (n,) or (n, n_columns), of the same shape as V.
        V : array (n,) or (n, n_columns), what K is multiplied with.
        """
        if self.hellinger:
            raise InvalidInput(f"{OWNER}: transform_inner needs a share of 0, got {self.hellinger:g}.")
        return float(self.weights @ self._inners(self._slopes, U, V))

    def product(self, X: RowsLike, V: npt.ArrayLike) -> Array:
        """K between new rows X and the n rows, times V: exact, a batch of rows at a time, merged with the sorted values.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.
        V : array (n,) or (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (m,) or (m, n_columns)
            As many columns as V has.
        """
        rows, numbers = self.transformed(X), check_columns("V", V, self.n)
        step = max(1, int(BATCH_NUMBERS * rows.shape[0] / max(1, rows.nnz)))
        batches = [rows[top : top + step] for top in range(0, rows.shape[0], step)]
        parts = [
            self.at_points(SortedHistograms.from_sparse(batch).columns, numbers, batch.shape[0]) for batch in batches
        ]
        result = np.concatenate([*parts, np.empty((0, numbers.shape[1]))])
        if self.hellinger:
            result += roots_of(rows) @ self.root_products(numbers)
        return result[:, 0] if np.ndim(V) == 1 else result

    def table(self, V: Array, bins: int | None) -> TableOnDemand | ExactProducts:
        """Products with V by look-up, of fewer bins where a table would take too much memory; exact ones where `bins` is None.

        Parameters
        ----------
        V : array (n,) or (n, n_columns), what K is multiplied with.
        bins : into how many each dimension of the table is divided; None for exact products.
        """
        room = 0 if bins is None else bins_within(self.width, bins, V.shape[1])
        return TableOnDemand(self, V, room) if room else ExactProducts(self, V)

    def lookup_table(self, V: Array, bins: int = 100) -> LookupTable:
        """As `LookupTable.from_operator`.

        Parameters
        ----------
        V : array (n,) or (n, n_columns), what K is multiplied with.
        bins : into how many each dimension is divided.
        """
        return LookupTable.from_operator(self, V, bins)

    def cross(self, X: RowsLike) -> Array:
        """K between the n rows and m new ones.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.

        Returns
        -------
        array (n, m)
            A column for each new row.
        """
        return self._cross(self.transformed(X))

    def diag_of(self, X: RowsLike) -> Array:
        """K(x, x) of each new row.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.

        Returns
        -------
        array (m,)
            A number for each new row.
        """
        return np.asarray(self.transformed(X) @ self.weights)

    def columns(self, indices: npt.ArrayLike) -> Array:
        """Columns of K.

        Parameters
        ----------
        indices : whole numbers (m,) from 0 to n - 1.

        Returns
        -------
        array (n, m)
            A column for each index.
        """
        places = np.atleast_1d(np.asarray(indices))
        whole = places.ndim == 1 and (places.dtype.kind in "iu" or not places.size)
        if not whole or (places.size and not 0 <= places.min() <= places.max() < self.n):
            raise InvalidInput(f"{OWNER}: indices must be whole numbers from 0 to {self.n - 1}, got {shown(indices)}.")
        return self._cross(self.histograms.take(places, self.sorted_values))

    def rounded(self) -> npt.NDArray[np.float32]:
        """K itself in single precision (n, n), right to about a millionth; without a share of Hellinger's kernel."""
        if self.hellinger:
            raise InvalidInput(f"{OWNER}: rounded needs a share of 0, got {self.hellinger:g}.")
        all_rows = self._single_rows()
        K = np.empty((self.n, self.n), np.float32)
        tops = range(0, self.n, ROUNDED_ROWS)
        for top in track(tops, "comparing all pairs", len(tops)):
            bottom = min(self.n, top + ROUNDED_ROWS)
            K[top:bottom, :bottom] = histogram_intersection.gram(all_rows[top:bottom], all_rows[:bottom])
            K[:top, top:bottom] = K[top:bottom, :top].T
        return K

    def _single_rows(self) -> scipy.sparse.csr_array:
        """All rows, transformed and weighted, in single precision."""
        starts, rows, values = self.sorted_values
        weighted = values.astype(np.float32)
        weighted *= np.repeat(self.weights.astype(np.float32), np.diff(starts))
        numbered = np.int32 if max(len(values), self.n) < 2**31 else np.int64
        places = rows.astype(numbered), starts.astype(numbered)
        return scipy.sparse.csc_array((weighted, *places), shape=(self.n, self.width)).tocsr()

    def totals(self, V: Array) -> Array:
        """For each dimension the sum of each column of V over the rows that have it.

        Parameters
        ----------
        V : array (n,) or (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (width, n_columns)
            Sums.
        """
        histograms = self.histograms
        return column_totals(histograms.row_starts, histograms.dims, histograms.masks, len(self.weights), V)

    def transformed(self, X: RowsLike) -> Sparse:
        """New rows, checked, as canonical CSR of transformed values.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.
        """
        rows = checked_histograms("X", X, self.width)
        return type(rows)((self.transform(rows.data), rows.indices, rows.indptr), shape=rows.shape)

    def at_points(self, points: Columns, V: Array, n: int) -> Array:
        """What intersection in each dimension adds to n rows of K V with transformed values at these points, ascending.

        Parameters
        ----------
        points : columns of transformed values in ascending order, a column for each dimension.
        V : array (n,) or (n, n_columns), what K is multiplied with.
        n : how many rows the points belong to.

        Returns
        -------
        array (n, n_columns)
            A row for each of the n rows.
        """
        return at_points(self.sorted_values, self.bent_weights, self.totals(V), V, points, n)

    def root_products(self, V: Array) -> Array:
        """What the roots of transformed rows are multiplied with for Hellinger's share of K V.

        Parameters
        ----------
        V : array (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (width, n_columns)
            A row for each dimension.
        """
        return (self.hellinger * self.weights)[:, None] * np.asarray(self._roots.T @ V)

    @property
    def bent_weights(self) -> Array:
        """The weights (width,) of intersection alone."""
        return self.weights if not self.hellinger else (1.0 - self.hellinger) * self.weights

    @cached_property
    def _roots(self) -> scipy.sparse.csc_array:
        """The square roots of all transformed values (n, width)."""
        starts, rows, values = self.sorted_values
        numbered = np.int32 if max(len(values), self.n) < 2**31 else np.int64
        places = rows.astype(numbered), starts.astype(numbered)
        return scipy.sparse.csc_array((np.sqrt(values), *places), shape=(self.n, self.width))

    def _cross(self, rows: Sparse) -> Array:
        """K between the n rows and transformed ones."""
        dense = rows.T.toarray()
        found = cross(self.sorted_values, self.bent_weights, dense, self.n)
        if self.hellinger:
            found += self._roots @ ((self.hellinger * self.weights)[:, None] * np.sqrt(dense))
        return found

    def _inners(self, columns: Columns, U: npt.ArrayLike, V: npt.ArrayLike) -> Array:
        left, right = check_columns("U", U, self.n), check_columns("V", V, self.n)
        if left.shape != right.shape:
            raise InvalidInput(f"{OWNER}: U and V must have one shape, got {left.shape} and {right.shape}.")
        return inners(columns, self.totals(right), left, right)


def check_weights(weights: npt.ArrayLike, width: int) -> Array:
    """Finite numbers >= 0, one for each dimension; a copy."""
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{OWNER}: weights must be numbers, got {shown(weights)}.") from None
    if numbers.shape != (width,):
        raise InvalidInput(f"{OWNER}: weights must be {width} numbers, one for each dimension, got {numbers.shape}.")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InvalidInput(f"{OWNER}: weights must be finite numbers >= 0, got one that is not.")
    return numbers


def _sums_by_dimension(columns: Columns) -> Array:
    ends = np.concatenate([columns.values, [0.0]])  # reduceat must not point behind the end
    sums = np.add.reduceat(ends, columns.starts[:-1]) if len(columns.starts) > 1 else np.empty(0)
    return np.where(np.diff(columns.starts) > 0, sums, 0.0)
