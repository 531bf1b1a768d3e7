"""A kernel family: Laplace kernels of every scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from example_parts.kernel import Laplace
from fewsight.kernels.families import Theta, VectorFamily


@dataclass(frozen=True)
class LaplaceScales(VectorFamily):
    """k(x, z) = exp(-sum_d |x_d - z_d| / scale), with theta = the scale."""

    kind: ClassVar[str] = "laplace_scales"
    spread: float = 1.0  # standard deviation of the logarithm of the scale

    def propose(self, examples: np.ndarray, rng: np.random.Generator) -> Theta:
        typical = np.abs(examples - examples.mean(axis=0)).sum(axis=1).mean()
        return {"scale": float(max(typical, 1e-9) * np.exp(rng.normal(0.0, self.spread)))}

    def make(self, theta: Theta) -> Laplace:
        (scale,) = self._parameters(theta, "scale")
        return Laplace(scale)
