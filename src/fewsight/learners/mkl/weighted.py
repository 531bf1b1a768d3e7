"""What learning the weights of kernels gives for one class, and how far from the best it can be. [Gehler2009, section 2]

With T_k = a^T K_k a / 2 for each kernel, weights d and signed dual variables a,

    l1:  minimise over d >= 0 with sum(d) = 1   P = d.T + loss            D = sum |a| - max_k T_k          [eq. 2-4]
    l2:  minimise over d >= 0                   P = d.T + loss + |d|^2    D = sum |a| - |T|^2 / 4          [eq. 6]

For every a that is feasible (also sum(a) = 0, which eq. 4 lacks) D is below the best value and P above it. Where a is best for
d, the gap P - D is max T - d.T for l1, and |d - T / 2|^2 for l2; here it includes what the support vector machine itself lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.types import Array
from fewsight.learners.mkl.machine import Task


@final
@dataclass(frozen=True, eq=False)
class Weighted:
    """The weights and the machine of one class, with P and D from their definitions."""

    weights: Array  # (k,)
    dual: Array  # (n,)
    intercept: float
    forms: Array  # (k,), T
    primal: float  # P
    bound: float  # D
    n_machines: int  # trained on the way
    n_rounds: int  # in which all kernels were looked at

    @property
    def gap(self) -> float:
        """(P - D) / P: the weights found are at most this far from the best, relative to P."""
        return (self.primal - self.bound) / max(self.primal, np.finfo(float).tiny)

    @property
    def threshold(self) -> float:
        """lambda of [Gehler2009, eq. 4]: a further kernel improves on these weights if its T is larger."""
        return float(self.forms.max())


def l1_values(task: Task, weights: Array, dual: Array, margins: Array, forms: Array) -> tuple[float, float]:
    """P and D of weights that add up to 1."""
    return _primal(task, float(weights @ forms), dual, margins), float(np.abs(dual).sum() - forms.max())


def l2_values(task: Task, weights: Array, dual: Array, margins: Array, forms: Array) -> tuple[float, float]:
    """P and D of weights with a quadratic penalty."""
    primal = _primal(task, float(weights @ forms), dual, margins) + float(weights @ weights)
    return primal, float(np.abs(dual).sum() - forms @ forms / 4.0)


def _primal(task: Task, square: float, dual: Array, margins: Array) -> float:
    """d.T + loss of the function as it is, or stretched by so little that examples below C reach their margin.

    A machine is exact to a tolerance, and a large C would make much of a margin that is missed by that.
    """
    signed = task.signs * margins
    least = float(signed[np.abs(dual) < task.C].min(initial=1.0))
    stretches = (1.0, 1.0 / least) if 0.5 < least < 1.0 else (1.0,)
    return min(stretch**2 * square + task.loss(stretch * margins) for stretch in stretches)
