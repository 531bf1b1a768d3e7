"""Symmetric positive semi-definite matrices that are known by what they do to vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.gp._checks import check_covariance


class LinearOperator(Protocol):
    """K of n examples; `operator @ V` multiplies with vectors or matrices of n rows."""

    @property
    def n(self) -> int:
        """How many rows K has."""
        ...

    def __matmul__(self, V: Any) -> Array:
        """K V."""
        ...

    def diag(self) -> Array:
        """The diagonal of K."""
        ...


class ColumnOperator(LinearOperator, Protocol):
    """An operator that can also show columns of K."""

    def columns(self, indices: Any) -> Array:
        """These columns, (n, m)."""
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

    def __matmul__(self, V: Any) -> Array:
        return self.K @ V

    def diag(self) -> Array:
        return self.K.diagonal().copy()

    def columns(self, indices: Any) -> Array:
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

    def __matmul__(self, V: Any) -> Array:
        mask = self.kept if np.ndim(V) == 1 else self.kept[:, None]
        return np.where(mask, self.operator @ np.where(mask, V, 0.0), 0.0)

    def diag(self) -> Array:
        return np.where(self.kept, self.operator.diag(), 0.0)

    def columns(self, indices: Any) -> Array:
        inside = self.kept[:, None] & self.kept[indices][None, :]
        return np.where(inside, self.operator.columns(indices), 0.0)


def whole(operator: ColumnOperator) -> Array:
    """K itself, for few examples."""
    everything: Indices = np.arange(operator.n)
    K = operator.columns(everything)
    return 0.5 * (K + K.T)
