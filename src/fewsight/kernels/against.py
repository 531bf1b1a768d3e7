"""Rows made ready once, for many comparisons of a few others with all of them: a pool that is asked about, say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, final

import numpy as np

from fewsight._base.types import Array
from fewsight._compiled import column_lists
from fewsight.kernels.rows import Rows, RowsLike, as_sparse

if TYPE_CHECKING:
    from fewsight.kernels.base import Kernel


class Shaped(Protocol):
    """Rows of numbers, or sets of descriptors."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many there are, and how many numbers each row or descriptor has."""


Compared = TypeVar("Compared", bound=Shaped)  # what a kernel compares, after checks


class Against(ABC, Generic[Compared]):
    """m rows, or sets, of one kernel, made ready."""

    def __init__(self, kernel: Kernel[Compared], rows: Compared) -> None:
        self.kernel, self.shape = kernel, rows.shape

    def gram(self, A: RowsLike) -> Array:
        """Values of each row of A with each of the rows that were made ready (n, m)."""
        return self._gram(self.kernel._checked("A", A, self.shape[1]))

    def compare(self, A: Compared) -> Array:
        """`gram` of rows that were checked before."""
        return self._gram(A)

    @abstractmethod
    def _gram(self, A: Compared) -> Array:
        """`gram` of checked rows."""


@final
class Plain(Against[Compared]):
    """For any kernel: rows that need not be checked again."""

    def __init__(self, kernel: Kernel[Compared], rows: Compared) -> None:
        super().__init__(kernel, rows)
        self.rows = rows

    def _gram(self, A: Compared) -> Array:
        return self.kernel._gram(A, self.rows)


@final
class Listed(Against[Rows]):
    """For histogram intersection: rows listed column by column, in about as much memory as they take themselves."""

    def __init__(self, kernel: Kernel[Rows], rows: Rows) -> None:
        super().__init__(kernel, rows)
        self.columns, self.starts, self.rows, self.values = column_lists.lists_of(as_sparse(rows))

    def _gram(self, A: Rows) -> Array:
        K = np.zeros((A.shape[0], self.shape[0]))
        if not len(self.columns):
            return K
        sparse = as_sparse(A)
        for i in range(len(K)):
            here = slice(sparse.indptr[i], sparse.indptr[i + 1])
            places = np.minimum(np.searchsorted(self.columns, sparse.indices[here]), len(self.columns) - 1)
            shared = self.columns[places] == sparse.indices[here]
            row = places[shared], sparse.data[here][shared]
            K[i] = column_lists.minima(*row, self.starts, self.rows, self.values, self.shape[0])
        return K
