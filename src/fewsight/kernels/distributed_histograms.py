"""The implicit histogram kernel on several machines: each worker of a Dask cluster holds some of the dimensions.

K is a sum over dimensions, so K V is the sum of what the workers answer; only V and the answers travel. Everything is asked
through the client (`distributed.Client`) that the caller passes, so that nothing of Dask is imported here.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator as operators
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.cluster import workers_of
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.histogram_operator import HistogramOperator, check_weights
from fewsight.kernels.histogram_tables import ExactProducts, LookupTable, TableOnDemand, bins_within
from fewsight.kernels.rows import RowsLike, Sparse
from fewsight.kernels.sorted_histograms import checked_histograms

if TYPE_CHECKING:
    from distributed import Client, Future

OWNER = "DistributedHistogramOperator"
Sent: TypeAlias = "npt.ArrayLike | Sparse | Future | None"  # to one worker
Argument: TypeAlias = "Sent | list[Sent] | list[Future] | list[Sparse]"  # for all workers, or a list of one for each


@final
@dataclass(frozen=True, eq=False)
class DistributedHistogramOperator:
    """As `HistogramOperator`, with its dimensions shared out among the workers of a cluster; the same numbers to rounding.

    Made by `DistributedHistogramOperator.from_rows(client, X)`, or from pieces that the workers have read.

    Attributes
    ----------
    client : through which the workers are asked.
    parts : futures of operators, one for each part.
    bounds : (n_parts + 1) where the dimensions of each begin.
    n : how many rows K has.
    weights : array (width,), one number >= 0 for each dimension.
    transform : its name and its parameter.
    hellinger : the share of Hellinger's kernel, from 0 to 1.
    """

    client: Client
    parts: tuple[Future, ...]
    bounds: tuple[int, ...]
    n: int
    weights: Array
    transform: tuple[str, float | None] = ("none", None)
    hellinger: float = 0.0

    @classmethod
    def from_rows(
        cls,
        client: Client,
        X: RowsLike,
        *,
        transform: str = "none",
        parameter: float | None = None,
        weights: npt.ArrayLike | None = None,
        n_parts: int | None = None,
    ) -> DistributedHistogramOperator:
        """Share out the dimensions of X so that each part (one for each worker if None) has as many non-zeros as the others.

        Parameters
        ----------
        client : a `distributed.Client`.
        X : array or sparse matrix (n, width), finite numbers >= 0.
        transform : 'none', 'power' or 'exponential'.
        parameter : of the transform; None for its default.
        weights : array (width,), finite numbers >= 0; None for ones.
        n_parts : how many; None for one for each worker.
        """
        rows = checked_histograms("X", X)
        wanted = (
            len(workers_of(OWNER, client)) if n_parts is None else check_integer(OWNER, "n_parts", n_parts, least=1)
        )
        ends = np.cumsum(np.bincount(rows.indices, minlength=rows.shape[1]))
        inner = np.searchsorted(ends, rows.nnz * np.arange(1, wanted) / wanted, side="right")
        columns = rows.tocsc()
        pieces = [columns[:, a:b].tocsr() for a, b in itertools.pairwise([0, *inner.tolist(), rows.shape[1]])]
        plain = cls.from_pieces(client, pieces)
        weighted = plain if weights is None else plain.with_weights(weights)
        return weighted if transform == "none" and parameter is None else weighted.with_transform(transform, parameter)

    @classmethod
    def from_pieces(cls, client: Client, pieces: Sequence[RowsLike | Future]) -> DistributedHistogramOperator:
        """One part for each piece: the same rows, each on some of the dimensions.

        Futures are of matrices that the workers have read themselves, so that no machine needs to hold all.

        Parameters
        ----------
        client : a `distributed.Client`.
        pieces : matrices (n, width of the piece), or futures of such.
        """
        workers = workers_of(OWNER, client)
        if not pieces:
            raise InvalidInput(f"{OWNER}: pieces must be one or more, got none.")
        parts = []
        for k, piece in enumerate(pieces):
            where = {"workers": [workers[k % len(workers)]], "allow_other_workers": True}
            parts.append(client.submit(HistogramOperator.from_rows, piece, pure=False, **where))
        sizes = client.gather([client.submit(_size, part, pure=False) for part in parts])
        if len({n for n, _ in sizes}) > 1:
            raise InvalidInput(f"{OWNER}: pieces must have the same rows, got {[n for n, _ in sizes]}.")
        bounds = np.cumsum([0, *(width for _, width in sizes)]).tolist()
        return cls(client, tuple(parts), tuple(bounds), sizes[0][0], np.ones(bounds[-1]))

    @property
    def width(self) -> int:
        """How many dimensions the histograms have."""
        return self.bounds[-1]

    @property
    def n_numbers(self) -> int:
        """How many numbers of the rows are not zero."""
        counts = [self.client.submit(_n_numbers, part, pure=False) for part in self.parts]
        return int(sum(self.client.gather(counts)))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    def with_weights(self, weights: npt.ArrayLike) -> DistributedHistogramOperator:
        """The same with one weight >= 0 for each dimension.

        Parameters
        ----------
        weights : array (width,), finite numbers >= 0.
        """
        numbers = check_weights(weights, self.width)
        cut = [numbers[a:b] for a, b in itertools.pairwise(self.bounds)]
        return dataclasses.replace(self._changed("with_weights", cut), weights=numbers)

    def with_transform(self, name: str, parameter: float | None = None) -> DistributedHistogramOperator:
        """The same with another g.

        Parameters
        ----------
        name : 'none', 'power' (x^parameter) or 'exponential'.
        parameter : of the transform; None for its default.
        """
        changed = self._changed("with_transform", [name] * len(self.parts), parameter)
        return dataclasses.replace(changed, transform=(name, parameter))

    def with_hellinger(self, share: float) -> DistributedHistogramOperator:
        """The same with this share of Hellinger's kernel.

        Parameters
        ----------
        share : from 0 to 1.
        """
        changed = self._changed("with_hellinger", share)
        return dataclasses.replace(changed, hellinger=float(share))

    def append(self, X: RowsLike) -> DistributedHistogramOperator:
        """The operator of these rows and then those of X, without sorting all again.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.
        """
        rows = checked_histograms("X", X, self.width)
        changed = self._changed("append", self._columns_of(rows))
        return dataclasses.replace(changed, n=self.n + rows.shape[0])

    def __matmul__(self, V: npt.ArrayLike) -> Array:
        """K v or K V."""
        return self._sum("__matmul__", self._sent(V))

    def diag(self) -> Array:
        """K(x, x) of each row."""
        return self._sum("diag")

    def trace(self) -> float:
        """The sum of `diag()`."""
        return float(sum(self._ask("trace")))

    def dimension_traces(self, counts: npt.ArrayLike | None = None) -> Array:
        """As `HistogramOperator.dimension_traces`.

        Parameters
        ----------
        counts : array (n,), how often each row counts; None for once.

        Returns
        -------
        array (width,)
            A number for each dimension.
        """
        sent = () if counts is None else (self._sent(counts),)
        return np.concatenate(self._ask("dimension_traces", *sent))

    def transform_trace(self) -> float:
        """As `HistogramOperator.transform_trace`."""
        return float(sum(self._ask("transform_trace")))

    def weight_inners(self, U: npt.ArrayLike, V: npt.ArrayLike) -> Array:
        """As `HistogramOperator.weight_inners`.

        Parameters
        ----------
        U : array (n,) or (n, n_columns), of the same shape as V.
        V : array (n,) or (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (width,)
            A sum for each dimension.
        """
        return np.concatenate(self._ask("weight_inners", self._sent(U), self._sent(V)))

    def transform_inner(self, U: npt.ArrayLike, V: npt.ArrayLike) -> float:
        """As `HistogramOperator.transform_inner`.

        Parameters
        ----------
        U : array (n,) or (n, n_columns), of the same shape as V.
        V : array (n,) or (n, n_columns), what K is multiplied with.
        """
        return float(sum(self._ask("transform_inner", self._sent(U), self._sent(V))))

    def product(self, X: RowsLike, V: npt.ArrayLike) -> Array:
        """K between new rows X and the n rows, times V, exact.

        Parameters
        ----------
        X : array or sparse matrix (m, width) of new rows, finite numbers >= 0.
        V : array (n,) or (n, n_columns), what K is multiplied with.

        Returns
        -------
        array (m,) or (m, n_columns)
            As many columns as V has.
        """
        return self._sum("product", self._columns_of(checked_histograms("X", X, self.width)), self._sent(V))

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
        return self._sum("cross", self._columns_of(checked_histograms("X", X, self.width)))

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
        return self._sum("columns", [indices] * len(self.parts))

    def lookup_table(self, V: Array, bins: int = 100) -> LookupTable:
        """As `LookupTable.from_operator`: the table itself is small, whatever it was made from.

        Parameters
        ----------
        V : array (n,) or (n, n_columns), what K is multiplied with.
        bins : into how many each dimension is divided.
        """
        sent = self._sent(V)
        tables = self.client.gather(
            [self.client.submit(LookupTable.from_operator, part, sent[0], bins, pure=False) for part in self.parts]
        )
        table, places = (np.concatenate([getattr(each, name) for each in tables]) for name in ("table", "places"))
        if tables[0].roots is None:
            return LookupTable(table, places, tables[0].flat)
        roots = np.concatenate([each.roots for each in tables])
        return LookupTable(table, places, tables[0].flat, roots, tables[0].transform)

    def table(self, V: Array, bins: int | None) -> TableOnDemand | ExactProducts:
        """As `HistogramOperator.table`.

        Parameters
        ----------
        V : array (n,) or (n, n_columns), what K is multiplied with.
        bins : into how many each dimension of the table is divided; None for exact products.
        """
        room = 0 if bins is None else bins_within(self.width, bins, V.shape[1])
        return TableOnDemand(self, V, room) if room else ExactProducts(self, V)

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
        return self._sum("diag_of", self._columns_of(checked_histograms("X", X, self.width)))

    def _sent(self, V: npt.ArrayLike) -> list[Future]:
        """V on every worker."""
        return [self.client.scatter(np.asarray(V), broadcast=True, hash=False)] * len(self.parts)

    def _columns_of(self, rows: Sparse) -> list[Sparse]:
        columns = rows.tocsc()
        return [columns[:, a:b].tocsr() for a, b in itertools.pairwise(self.bounds)]

    def _submitted(self, method: str, *arguments: Argument) -> list[Future]:
        """A future for each part; an argument that is a list has one entry for each."""
        for_each = [value if isinstance(value, list) else [value] * len(self.parts) for value in arguments]
        calls = zip(self.parts, *for_each, strict=True)
        return [self.client.submit(_call, part, method, *values, pure=False) for part, *values in calls]

    def _ask(self, method: str, *arguments: Argument) -> list[Array]:
        answers: list[Array] = self.client.gather(self._submitted(method, *arguments))
        return answers

    def _sum(self, method: str, *arguments: Argument) -> Array:
        return functools.reduce(operators.add, self._ask(method, *arguments))

    def _changed(self, method: str, *arguments: Argument) -> DistributedHistogramOperator:
        parts = self._submitted(method, *arguments)
        self.client.gather([self.client.submit(_size, part, pure=False) for part in parts])  # what is wrong shows here
        return dataclasses.replace(self, parts=tuple(parts))


def _call(part: HistogramOperator, method: str, *arguments: Sent) -> Array | HistogramOperator:
    return getattr(part, method)(*arguments)


def _size(part: HistogramOperator) -> tuple[int, int]:
    return part.n, part.width


def _n_numbers(part: HistogramOperator) -> int:
    return part.n_numbers
