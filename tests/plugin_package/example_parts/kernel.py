"""A kernel: the Laplace kernel of rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from fewsight import InvalidInput, Kernel


@dataclass(frozen=True)
class Laplace(Kernel):
    """k(x, z) = exp(-sum_d |x_d - z_d| / scale)"""

    kind: ClassVar[str] = "laplace"
    accepts_sparse: ClassVar[bool] = False
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.scale, float) or not 0 < self.scale < np.inf:
            raise InvalidInput(f"Laplace: scale must be a finite number > 0, got {self.scale!r}.")

    def _gram(self, A: np.ndarray, B: np.ndarray | None) -> np.ndarray:
        return np.exp(-cdist(A, A if B is None else B, "cityblock") / self.scale)

    def _diag(self, A: np.ndarray) -> np.ndarray:
        return np.ones(len(A))
