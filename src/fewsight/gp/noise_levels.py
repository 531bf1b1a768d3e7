"""The evidence of all noise levels at once, from products with K alone.

With noise r * balance, B = K scaled by balance^-1/2 on both sides, A is B + r I up to that scale, and the vectors of a Lanczos
iteration on B do not depend on r. So one run from the targets (misfit) and from random signs (log-determinant, by Hutchinson's
estimate) gives the evidence for every r; the same signs serve all levels and all kernels, so that differences are far more
exact than values. With few examples all is exact instead, by the eigenvalues of B.

As in `fewsight.gp.evidence`, each column has a *free mean* and the evidence is that at the best common *scale* of kernel and
noise. Both matter: with them the level that the evidence likes best is also the one that ranks new examples well (see
docs/large_scale.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

from fewsight._base.checks import check_integer, check_matrix, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp._checks import check_per_example
from fewsight.gp._cholesky import LOG_TWO_PI
from fewsight.gp.lanczos import Quadrature, quadratures
from fewsight.gp.linear_systems import norms
from fewsight.gp.operators import ColumnOperator, whole

MOST_EXACT = 500  # examples for which all eigenvalues are computed: well under a second
STEPS = 80  # of Lanczos: levels down to about 1e-2 of the mean diagonal
PROBES = 8
TINY = 1e-300
LEVELS = (1e-3, 1e3)  # of the mean diagonal of K
PER_FACTOR_OF_E = 2  # levels that are looked at before the best is refined


@final
@dataclass(frozen=True, eq=False)
class NoiseCurve:
    """Evidence as a function of the noise level, for every column of targets. Made by `noise_curve`."""

    n: int
    misfits: Quadrature  # c columns
    trace: Quadrature  # of random signs, or of everything
    constant: float  # what balance adds to every log-determinant
    unit: float  # the mean diagonal of K

    def log_evidence(self, level: float) -> Array:
        """Of each column (c,), each at its own best scale."""
        freedom, (misfits, log_determinant) = self.n - 1, self._terms(level)
        scale = np.maximum(misfits / freedom, TINY)
        return -0.5 * (freedom * (1.0 + LOG_TWO_PI + np.log(scale)) + log_determinant)

    def joint_log_evidence(self, level: float) -> float:
        """Of all columns together, at the best scale that they share."""
        misfits, log_determinant = self._terms(level)
        freedom = (self.n - 1) * len(misfits)
        scale = max(float(misfits.sum()) / freedom, TINY)
        return -0.5 * (freedom * (1.0 + LOG_TWO_PI + np.log(scale)) + len(misfits) * log_determinant)

    def scale(self, level: float) -> float:
        """The common factor of kernel and noise that the evidence likes best."""
        return max(float(self._terms(level)[0].sum()) / ((self.n - 1) * len(self.misfits.nodes)), TINY)

    def best(self, column: int | None = None) -> tuple[float, float]:
        """The level with the largest evidence, of all columns together or of one, and that evidence."""

        def cost(log: float) -> float:
            level = float(np.exp(log))
            return -(self.joint_log_evidence(level) if column is None else float(self.log_evidence(level)[column]))

        low, high = np.log(np.array(LEVELS) * self.unit)
        logs = np.linspace(low, high, 1 + int(np.ceil(PER_FACTOR_OF_E * (high - low))))
        costs = [cost(log) for log in logs]
        at = int(np.argmin(costs))
        around = logs[max(at - 1, 0)], logs[min(at + 1, len(logs) - 1)]
        refined = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-3})
        if refined.fun < costs[at]:
            return float(np.exp(refined.x)), -float(refined.fun)
        return float(np.exp(logs[at])), -costs[at]

    def _terms(self, level: float) -> tuple[Array, float]:
        """The misfit of each column (c,), and the log-determinant that all share."""
        misfits = self.misfits.apply(lambda nodes: 1.0 / (np.maximum(nodes, 0.0) + level))
        logs = self.trace.apply(lambda nodes: np.log(np.maximum(nodes, 0.0) + level))
        return misfits, float(logs.sum()) + self.constant


def noise_curve(
    operator: ColumnOperator,
    targets: Array,
    *,
    balance: Array | None = None,
    probes: int = PROBES,
    steps: int = STEPS,
    random_state: int = 0,
) -> NoiseCurve:
    """The evidence of targets (n, c) over noise = level * balance.

    Parameters
    ----------
    probes, random_state : random signs for the log-determinant and their seed; up to 500 examples none are needed.
    steps : of the Lanczos iteration.
    """
    return next(noise_curves(operator, targets, [steps], balance=balance, probes=probes, random_state=random_state))


def noise_curves(
    operator: ColumnOperator,
    targets: Array,
    steps: Sequence[int],
    *,
    balance: Array | None = None,
    probes: int = PROBES,
    random_state: int = 0,
) -> Iterator[NoiseCurve]:
    """As `noise_curve`, after each of several numbers of steps, ascending: low levels take more. Nothing is done twice, and
    nothing before it is asked for."""
    who = "noise_curve"
    targets = check_matrix(who, "targets", targets, shape=(operator.n, None))
    n = len(targets)
    if n < 2 or not targets.shape[1]:
        raise InvalidInput(f"{who}: targets must have two rows or more and a column, got {shown(targets.shape)}.")
    factors = np.ones(n) if balance is None else check_per_example(who, "balance", balance, n)
    probes = check_integer(who, "probes", probes, least=1)
    root = np.sqrt(factors)
    mean = (1.0 / root) / np.linalg.norm(
        1.0 / root
    )  # what a constant looks like beside B; all else is orthogonal to it
    scaled = _without(mean, targets / root[:, None])
    constant = float(np.log(factors).sum() + np.log((1.0 / factors).mean()))
    unit = float(operator.diag().mean()) or 1.0
    if n <= MOST_EXACT:
        yield NoiseCurve(n, *_exact(whole(operator) / np.outer(root, root), scaled, mean), constant, unit)
        return

    def multiply(V: Array) -> Array:
        inner = operator @ (_without(mean, V) / root[:, None])
        return _without(mean, inner / root[:, None])

    signs = np.random.default_rng(random_state).choice([-1.0, 1.0], (n, probes))
    starts = _without(mean, signs)
    starts *= np.sqrt((n - 1) / probes) / norms(starts)
    c = targets.shape[1]
    for both in quadratures(multiply, np.hstack([scaled, starts]), steps):
        yield NoiseCurve(n, _part(both, slice(None, c)), _part(both, slice(c, None)), constant, unit)


def _exact(B: Array, targets: Array, mean: Array) -> tuple[Quadrature, Quadrature]:
    """All eigenvalues of B among vectors orthogonal to the mean, with the weight of each target."""
    projected = _without(mean, _without(mean, B).T)
    values, vectors = eigh(0.5 * (projected + projected.T))
    own = int(np.argmax(np.abs(vectors.T @ mean)))  # the mean itself is no part of it
    keep = np.arange(len(values)) != own
    weights = (vectors[:, keep].T @ targets).T ** 2
    nodes = np.tile(values[keep], (len(weights), 1))
    return Quadrature(nodes, weights), Quadrature(values[None, keep], np.ones((1, int(keep.sum()))))


def _without(direction: Array, V: Array) -> Array:
    """The part of each column that is orthogonal to a unit vector."""
    return V - direction[:, None] * (direction @ V)


def _part(whole: Quadrature, columns: slice) -> Quadrature:
    return Quadrature(whole.nodes[columns], whole.weights[columns])
