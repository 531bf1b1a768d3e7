"""Kernels that see a part of each row: some of its columns, or its projections onto a few directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fewsight._base.checks import check_integer, check_matrix, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.base import Kernel
from fewsight.kernels.rows import Rows


@dataclass(frozen=True)
class Columns(Kernel):
    """k(x, z) = part(x restricted to some columns, z restricted to the same).

    Parameters
    ----------
    columns : different whole numbers from 0.
    part : the kernel of what is left of a row.
    """

    kind: ClassVar[str] = "columns"
    columns: tuple[int, ...]
    part: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _check_columns(self, self.columns))
        _check_part(self, self.part)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        chosen = self._chosen("A", A)
        return self.part._gram(chosen, None if B is None else self._chosen("B", B))

    def _diag(self, A: Rows) -> Array:
        return self.part._diag(self._chosen("A", A))

    def _chosen(self, name: str, rows: Rows) -> Rows:
        least = max(self.columns) + 1
        if rows.shape[1] < least:
            raise InvalidInput(f"Columns: {name} must have at least {least} columns, got {rows.shape[1]}.")
        return self.part._checked(name, rows[:, list(self.columns)])


@dataclass(frozen=True)
class Projected(Kernel):
    """k(x, z) = part(D x, D z): rows are projected onto directions, the rows of D, before they are compared."""

    kind: ClassVar[str] = "projected"
    directions: tuple[tuple[float, ...], ...]
    part: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", _check_directions(self, self.directions))
        _check_part(self, self.part)

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        projected = self._projected("A", A)
        return self.part._gram(projected, None if B is None else self._projected("B", B))

    def _diag(self, A: Rows) -> Array:
        return self.part._diag(self._projected("A", A))

    def _width(self) -> int:
        return len(self.directions[0])

    def _projected(self, name: str, rows: Rows) -> Rows:
        return self.part._checked(name, rows @ np.array(self.directions).T)


def _check_part(owner: Kernel, part: object) -> None:
    if not isinstance(part, Kernel):
        raise InvalidInput(f"{owner_name(owner)}: part must be a kernel, got {shown(part)}.")


def _check_columns(owner: Kernel, columns: Any) -> tuple[int, ...]:
    if np.ndim(columns) != 1 or len(columns) == 0 or len(set(columns)) != len(columns):
        raise InvalidInput(f"{owner_name(owner)}: columns must be different whole numbers >= 0, got {shown(columns)}.")
    return tuple(check_integer(owner, "a column", column, least=0) for column in columns)


def _check_directions(owner: Kernel, directions: Any) -> tuple[tuple[float, ...], ...]:
    try:
        matrix = check_matrix(owner, "directions", directions)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{owner_name(owner)}: directions must be rows of numbers, got {shown(directions)}."
        ) from None
    if not matrix.size:
        raise InvalidInput(f"{owner_name(owner)}: directions must be one or more rows of numbers, got none.")
    return tuple(tuple(row) for row in matrix.tolist())
