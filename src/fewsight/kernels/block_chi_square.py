"""Histograms side by side in a row, each compared by itself: what a channel of many windows or codebooks needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fewsight._base.checks import check_integer, check_positive, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight._compiled import chi_square
from fewsight.kernels.base import Kernel, check_not_negative
from fewsight.kernels.rows import Rows, Sparse, as_sparse


@dataclass(frozen=True)
class BlockChiSquare(Kernel):
    """k(x, z) = sum_b weight_b exp(-gamma_b chi2(x_b, z_b)), where x_b are the columns from b * width to below (b + 1) * width.

    Parameters
    ----------
    width : columns of a block.
    gammas : a number > 0 for each block.
    weights : a number >= 0 for each block, not all of them zero.
    """

    kind: ClassVar[str] = "block_chi_square"
    needs_non_negative: ClassVar[bool] = True
    width: int = 1
    gammas: tuple[float, ...] = (1.0,)
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_integer(self, "width", self.width, least=1))
        gammas, weights = (self._listed(name) for name in ("gammas", "weights"))
        object.__setattr__(self, "gammas", tuple(check_positive(self, "a gamma", gamma) for gamma in gammas))
        object.__setattr__(self, "weights", tuple(check_not_negative(self, "a weight", weight) for weight in weights))
        if len(gammas) != len(weights) or not any(self.weights):
            raise InvalidInput(
                f"BlockChiSquare: there must be a weight for each of {len(gammas)} gammas, one or more of them above zero, got "
                f"{shown(weights)}."
            )

    def _listed(self, name: str) -> tuple[Any, ...]:
        value = getattr(self, name)
        if not isinstance(value, (tuple, list)) or not value:
            raise InvalidInput(f"{owner_name(self)}: {name} must be one or more numbers, got {shown(value)}.")
        return tuple(value)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        mine = _Blocks(as_sparse(A), self.width)
        others = None if B is None else _Blocks(as_sparse(B), self.width)
        total = np.zeros((A.shape[0], A.shape[0] if B is None else B.shape[0]))
        for block in np.flatnonzero(self.weights).tolist():
            K = chi_square.distances(mine.rows(block), None if others is None else others.rows(block))
            K *= -self.gammas[block]
            np.exp(K, out=K)
            K *= self.weights[block]
            total += K
        return total

    def _diag(self, A: Rows) -> Array:
        total = 0.0
        for block in np.flatnonzero(self.weights):  # in the order of `_gram`, so that both round alike
            total += self.weights[block]
        return np.full(A.shape[0], total)

    def _width(self) -> int:
        return self.width * len(self.gammas)


class _Blocks:
    """Rows cut into blocks of columns, each entry moved once."""

    def __init__(self, rows: Sparse, width: int) -> None:
        self.kind, self.n, self.width = type(rows), rows.shape[0], width
        blocks = rows.indices // width
        self._order: Indices = np.argsort(blocks, kind="stable")  # within a block by row, then by column, as before
        self._ends = np.searchsorted(blocks[self._order], np.arange(rows.shape[1] // width + 1))
        self._owners = np.repeat(np.arange(self.n), np.diff(rows.indptr))
        self._columns, self._data = rows.indices % width, rows.data

    def rows(self, block: int) -> Sparse:
        """Those of one block, as canonical rows."""
        here = self._order[self._ends[block] : self._ends[block + 1]]
        starts = np.concatenate([[0], np.cumsum(np.bincount(self._owners[here], minlength=self.n))])
        return self.kind((self._data[here], self._columns[here], starts), shape=(self.n, self.width))
