"""Adapted least-squares SVM: the target's plane is drawn towards one learned before. [Tommasi2009]

The weights w minimise |w - beta w'|^2 / 2 + C / 2 sum_i s_i (y_i - w.x_i - b)^2, where w' is that of a least-squares SVM for
the support task. With K the target's Gram matrix the dual is one linear system, (K + diag(1 / (C s_i))) a + b = y - beta
f'(x), sum(a) = 0, so a = a_0 - beta a' is linear in beta, and left-out predictions are y_i - a_i / [M^-1]_ii. beta and C are
those with the least weighted left-out error, squashed; positives and background weigh the same in all.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from scipy.special import expit

from fewsight._base.types import Array

BETAS = np.linspace(0.0, 1.0, 21)
COSTS = (0.1, 1.0, 10.0, 100.0)
SLOPE = 10.0


class Plane(NamedTuple):
    """f(x) = kernel values @ coefficients + bias."""

    coefficients: Array
    bias: float

    def __call__(self, K_test: Array) -> Array:
        return K_test @ self.coefficients + self.bias


@final
class Adapted(NamedTuple):
    """What was learned: the target's own plane, to which beta times the support's is added, and the left-out error."""

    own: Plane
    beta: float
    error: float


def plain(K: Array, y: Array) -> Plane:
    """A least-squares SVM with the cost of least left-out error."""
    return adapted(K, y, np.zeros(len(y))).own


def adapted(K: Array, y: Array, prior: Array) -> Adapted:
    """For examples of which the support's plane says `prior` (n,)."""
    best: Adapted | None = None
    balance = np.where(y > 0, 0.5 / max(1, (y > 0).sum()), 0.5 / max(1, (y < 0).sum()))
    for cost in COSTS:
        inverse = np.linalg.inv(_system(K, 1.0 / (cost * len(y) * balance)))
        solved, towards = (inverse @ np.append(column, 0.0) for column in (y, prior))
        for beta in BETAS if prior.any() else (0.0,):
            whole = solved - beta * towards
            left_out = y - whole[:-1] / inverse.diagonal()[:-1]
            error = float(balance @ expit(-SLOPE * y * left_out))
            if best is None or error < best.error:
                best = Adapted(Plane(whole[:-1], float(whole[-1])), float(beta), error)
    assert best is not None
    return best


def _system(K: Array, ridge: Array) -> Array:
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K + np.diag(ridge)
    system[n, n] = 0.0
    return system
