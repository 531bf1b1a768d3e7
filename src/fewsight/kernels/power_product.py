"""A product of kernels, each raised to a power of its own: how much each of several distances counts. [Gehler2009, section 6]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewsight._base.checks import owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.base import Kernel, check_not_negative
from fewsight.kernels.columns import Columns
from fewsight.kernels.histograms import ExponentialChiSquare
from fewsight.kernels.rbf import RBF, RelevanceRBF
from fewsight.kernels.rows import Rows

DIVISIBLE = (RBF, RelevanceRBF, ExponentialChiSquare)  # exp(-distance), of which every power is a kernel


@dataclass(frozen=True)
class PowerProduct(Kernel):
    """k(x, z) = prod_p k_p(x, z)^exponent_p for kernels k_p = exp(-distance_p); an exponent of zero leaves its kernel out.

    Parameters
    ----------
    parts : one or more kernels that are an exponential of minus a distance, of all columns or of some (`Columns`).
    exponents : a number >= 0 for each of them.
    """

    kind: ClassVar[str] = "power_product"
    parts: tuple[Kernel, ...]
    exponents: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, (tuple, list)) or not self.parts:
            raise InvalidInput(f"{owner_name(self)}: parts must be one or more kernels, got {shown(self.parts)}.")
        for part in self.parts:
            if not isinstance(part.part if isinstance(part, Columns) else part, DIVISIBLE):
                raise InvalidInput(
                    f"{owner_name(self)}: parts must be RBF, RelevanceRBF or ExponentialChiSquare, of all columns or of some, "
                    f"got {shown(part)}."
                )
        if not isinstance(self.exponents, (tuple, list)) or len(self.exponents) != len(self.parts):
            raise InvalidInput(
                f"{owner_name(self)}: exponents must be {len(self.parts)} numbers, got {shown(self.exponents)}."
            )
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(
            self, "exponents", tuple(check_not_negative(self, "an exponent", number) for number in self.exponents)
        )

    def _gram(self, A: Rows, B: Rows | None) -> Array:
        K = np.ones((A.shape[0], A.shape[0] if B is None else B.shape[0]))
        for part, exponent in zip(self.parts, self.exponents, strict=True):
            if exponent > 0:
                K *= part._gram(A, B) ** exponent
        return K

    def _diag(self, A: Rows) -> Array:
        return np.ones(A.shape[0])

    def _elements(self) -> tuple[Kernel, ...]:
        return tuple(element for part in self.parts for element in part._elements())
