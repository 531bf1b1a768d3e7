"""Symmetric positive semi-definite matrices that are known by what they do to vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices, Rows
from fewsight.gp._checks import check_covariance


class LinearOperator(Protocol):
    """K of n examples; `operator @ V` multiplies with vectors or matrices of n rows."""

    @property
    def n(self) -> int:
        """How many rows K has."""
        ...

    def __matmul__(self, V: Array) -> Array:
        """K V."""
        ...

    def diag(self) -> Array:
        """The diagonal of K."""
        ...


class ColumnOperator(LinearOperator, Protocol):
    """An operator that can also show columns of K."""

    def columns(self, indices: Indices) -> Array:
        """These columns, (n, m)."""
        ...


class Products(Protocol):
    """K between new examples and the n examples of an operator, times columns that were given before."""

    def product(self, X: Rows) -> Array:
        """For new examples X (m, columns)."""
        ...


class PredictiveOperator(ColumnOperator, Protocol):
    """An operator whose examples are rows of numbers, and can be compared with new ones."""

    @property
    def n_numbers(self) -> int:
        """How many numbers a product with one vector reads, which is what it costs."""
        ...

    def product(self, X: Rows, V: Array) -> Array:
        """K between new rows X and the n examples, times V: exact."""
        ...

    def table(self, V: Array, bins: int | None) -> Products:
        """What products with these columns need, prepared once: approximate, with this many bins; exact where that is None."""
        ...

    def cross(self, X: Rows) -> Array:
        """K between the n examples and new rows, (n, m)."""
        ...

    def diag_of(self, X: Rows) -> Array:
        """K(x, x) of each new row."""
        ...


@final
@dataclass(frozen=True, eq=False)
class DenseOperator:
    """A matrix that is there, as an operator."""

    K: Array

    def __post_init__(self) -> None:
        check_covariance(self, "K", self.K)

    @property
    def n(self) -> int:
        return len(self.K)

    def __matmul__(self, V: Array) -> Array:
        return self.K @ V

    def diag(self) -> Array:
        return self.K.diagonal().copy()

    def columns(self, indices: Indices) -> Array:
        return self.K[:, indices]


@final
@dataclass(frozen=True, eq=False)
class Restricted:
    """K of some of the examples only: the rows and columns of the others are zero, and nothing is copied."""

    operator: ColumnOperator
    kept: npt.NDArray[np.bool_]

    @property
    def n(self) -> int:
        return self.operator.n

    def __matmul__(self, V: Array) -> Array:
        mask = self.kept if np.ndim(V) == 1 else self.kept[:, None]
        return np.where(mask, self.operator @ np.where(mask, V, 0.0), 0.0)

    def diag(self) -> Array:
        return np.where(self.kept, self.operator.diag(), 0.0)

    def columns(self, indices: Indices) -> Array:
        inside = self.kept[:, None] & self.kept[indices][None, :]
        return np.where(inside, self.operator.columns(indices), 0.0)


def whole(operator: ColumnOperator) -> Array:
    """K itself, for few examples."""
    everything: Indices = np.arange(operator.n)
    K = operator.columns(everything)
    return 0.5 * (K + K.T)
