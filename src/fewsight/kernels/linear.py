"""Kernels of the inner product: linear and polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fewsight._base.checks import check_integer, check_positive
from fewsight._base.types import Array
from fewsight.kernels.base import Kernel, check_not_negative
from fewsight.kernels.rows import Rows, as_dense, dense_bytes_per_row, in_pieces, row_sums


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x . z"""

    kind: ClassVar[str] = "linear"

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        return inner_products(A, B)

    def _diag(self, A: Rows) -> Array:
        return row_sums(A, power=2)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (scale * x . z + offset) ^ degree, with a whole degree above zero and an offset of zero or more.

    Parameters
    ----------
    degree : a whole number, 1 or more.
    offset : a number >= 0.
    scale : a number > 0.
    """

    kind: ClassVar[str] = "polynomial"
    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_integer(self, "degree", self.degree, least=1))
        object.__setattr__(self, "offset", check_not_negative(self, "offset", self.offset))
        object.__setattr__(self, "scale", check_positive(self, "scale", self.scale))

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        return self._of(inner_products(A, B))

    def _diag(self, A: Rows) -> Array:
        return self._of(row_sums(A, power=2))

    def _of(self, products: Array) -> Array:
        products *= self.scale
        products += self.offset
        products **= self.degree
        return products


def inner_products(A: Rows, B: Rows | None) -> Array:
    """All inner products. Sparse rows are laid out a few at a time: BLAS on the zeros beats a loop around them."""
    bytes_per_row = max(dense_bytes_per_row(A), 0.0 if B is None else dense_bytes_per_row(B))
    return in_pieces(_dense_products, as_dense, A, B, bytes_per_row)


def _dense_products(A: Array, B: Array | None) -> Array:
    return A @ (A if B is None else B).T  # of an array with its own transpose: half the work, exactly symmetric
