"""A support vector machine on a given Gram matrix, one class against the rest, with a warm start.

In signed dual variables a_i (the dual variable times the label y_i) the machine maximises

    sum_i |a_i| - 1/2 a^T K a,    0 <= a_i y_i <= C,   sum_i a_i = 0,

and decides by K_test a + b. Examples that are left out have bounds of zero: the Gram matrix stays as it is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from fewsight._base.types import Array, Indices
from fewsight._compiled import pairwise_descent

MAX_STEPS = 1_000_000  # of two variables each
LOOSEST = 1e-3  # by how much margins may be off, whatever gap was asked for; LIBSVM's default
TIGHTEST = 1e-11


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """What was found for one class."""

    dual: Array  # (n,), a
    intercept: float  # b
    margins: Array  # (n,), K a + b of the training examples

    @property
    def square(self) -> float:
        """a^T K a / 2; the intercept has no part in it, for a adds up to zero."""
        return 0.5 * float(self.dual @ self.margins)

    @property
    def objective(self) -> float:
        """sum |a| - a^T K a / 2, the largest at the best a."""
        return float(np.abs(self.dual).sum()) - self.square


@final
@dataclass(frozen=True, eq=False)
class Task:
    """One class against the rest: labels (n,) of +1 and -1, and the penalty C of a training error."""

    signs: Array
    C: float

    def bounds(self, left_out: npt.NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
        """The least and the largest a, which are zero for examples that are left out."""
        limits = self.C * self.signs
        if left_out is not None:
            limits = np.where(left_out, 0.0, limits)
        return np.minimum(limits, 0.0), np.maximum(limits, 0.0)

    def loss(self, margins: Array) -> float:
        """C times the hinge loss of the margins."""
        return self.C * float(np.maximum(1.0 - self.signs * margins, 0.0).sum())

    def of_examples(self, positions: Indices) -> Task:
        """The same task with these examples only."""
        return Task(self.signs[positions], self.C)

    def train(
        self, K: Array, start: Array | None = None, *, gap: float, left_out: npt.NDArray[np.bool_] | None = None
    ) -> Machine:
        """The machine at this Gram matrix (n, n), whose relative duality gap is about this or less.

        `start` are dual variables to begin with; those of examples that are left out are taken out of it first.
        """
        low, high = self.bounds(left_out)
        dual = np.zeros(len(low)) if start is None else _feasible(start, low, high)
        tolerance = float(np.clip(gap / 20.0, TIGHTEST, LOOSEST))
        K = np.ascontiguousarray(K)
        gradient, violation, _ = pairwise_descent.descend(K, self.signs, low, high, dual, tolerance, MAX_STEPS)
        if violation > LOOSEST:  # what is less shows in the gap
            warnings.warn(
                f"a support vector machine stopped after {MAX_STEPS:,} steps with margins off by {violation:.2g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        intercept = _intercept(gradient, dual, low, high)
        return Machine(dual, intercept, gradient + self.signs + intercept)


def _feasible(start: Array, low: Array, high: Array) -> Array:
    """The start within the bounds; the side that has too much of it is scaled down so that all adds up to zero."""
    dual = np.clip(start, low, high)
    up, down = float(dual[dual > 0].sum()), -float(dual[dual < 0].sum())
    if up > down:
        dual[dual > 0] *= down / up
    elif down > up:
        dual[dual < 0] *= up / down
    return dual


def _intercept(gradient: Array, dual: Array, low: Array, high: Array) -> float:
    """Minus the gradient of the free variables, or the middle of what those at their bounds allow."""
    free = (dual > low) & (dual < high)
    if free.any():
        return -float(gradient[free].mean())
    least = gradient[dual < high].min(initial=np.inf)
    most = gradient[dual > low].max(initial=-np.inf)
    ends = [end for end in (least, most) if np.isfinite(end)]
    return -float(np.mean(ends)) if ends else 0.0
