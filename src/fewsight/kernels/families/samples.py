"""Families whose parameters are drawn: subsets of the columns, and projections onto random directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from fewsight._base.checks import check_integer, check_positive, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.base import Kernel
from fewsight.kernels.columns import Columns, Projected
from fewsight.kernels.families.base import Theta, VectorFamily
from fewsight.kernels.rbf import RBF
from fewsight.kernels.rows import Rows


@dataclass(frozen=True)
class _Sampled(VectorFamily):
    """`size` columns or directions at a time, compared by `part`: a kernel, or None for a Gaussian as wide as what is left."""

    size: int = 3
    part: Kernel | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_integer(self, "size", self.size, least=1))
        if self.part is not None and not isinstance(self.part, Kernel):
            raise InvalidInput(f"{owner_name(self)}: part must be a kernel or None, got {shown(self.part)}.")

    def _theta(self, name: str, value: list[Any], left: Array) -> Theta:
        scale = {} if self.part is not None else {"scale": RBF.as_wide_as(left).scale}
        return {name: value, **scale}

    def _parts(self, name: str, theta: Theta) -> tuple[Any, Kernel]:
        if self.part is not None:
            return self._parameters(theta, name)[0], self.part
        value, scale = self._parameters(theta, name, "scale")
        return value, RBF(check_positive(self, "scale", scale))


@final
@dataclass(frozen=True)
class ColumnFamily(_Sampled):
    """Kernels of some columns: theta = which. Where there are fewer columns than `size`, all of them."""

    kind: ClassVar[str] = "column_subsets"

    def propose(self, examples: Rows, rng: np.random.Generator) -> Theta:
        rows = self._dense(examples)
        chosen = np.sort(rng.permutation(rows.shape[1])[: self.size])
        return self._theta("columns", chosen.tolist(), rows[:, chosen])

    def make(self, theta: Theta) -> Columns:
        columns, part = self._parts("columns", theta)
        return Columns(columns, part)


@final
@dataclass(frozen=True)
class ProjectionFamily(_Sampled):
    """Kernels of projections: theta = directions, drawn from a Gaussian for columns of variance one."""

    kind: ClassVar[str] = "projections"

    def propose(self, examples: Rows, rng: np.random.Generator) -> Theta:
        rows = self._dense(examples)
        deviations = rows.std(axis=0)
        directions = rng.normal(size=(self.size, rows.shape[1])) / np.where(deviations > 0, deviations, 1.0)
        directions /= np.sqrt(rows.shape[1])
        return self._theta("directions", directions.tolist(), rows @ directions.T)

    def make(self, theta: Theta) -> Projected:
        directions, part = self._parts("directions", theta)
        return Projected(directions, part)
