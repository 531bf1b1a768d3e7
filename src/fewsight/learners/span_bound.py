"""The span bound of the leave-one-out error of a support vector machine, and its slopes. [Holub2008, eq. 12 to 14; Chapelle2002]

A machine with squared slacks is one without slacks on K + 1/C, so that C is a parameter of the kernel. Of its support vectors,

    T = 1/N sum_n s((alpha_n S_n^2 - 1) / H),    S_n^2 = 1 / [M^-1]_nn - eta / alpha_n,   M = [[K + 1/C + eta / alpha, 1], [1, 0]]

with s(x) = 1 / (1 + exp(-x)); the row and column of ones come from the bias. alpha is itself a function of the kernel: on the
support vectors [[K + 1/C, 1], [1, 0]] [alpha y; b] = [y; 0].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

from fewsight._base.types import Array, Indices
from fewsight._compiled.pairwise_descent import descend

TOLERANCE = 1e-9  # of the optimality of a machine, in units of the targets
MOST_STEPS = 200_000
SUPPORT = 1e-7  # of the largest dual weight, below which an example is no support vector
LOG_WEIGHTS = (-20.0, 12.0)  # natural logarithms that a weight may take
LOG_PENALTIES = (np.log(2.0**-7), np.log(2.0**9))
START_PENALTY = 10.0


class Machine(NamedTuple):
    """A support vector machine with squared slacks: alpha times targets (n,), its bias, and its support vectors."""

    dual: Array
    intercept: float
    support: Indices


class Descent(NamedTuple):
    """Where a descent ended, and the way there: a row for the start and for each step."""

    weights: Array  # (k,)
    penalty: float
    values: Array  # (steps + 1,), of the sum of the bounds
    path: Array  # (steps + 1, k), of the weights


class Bound(NamedTuple):
    """The value, its slopes in the logarithms of the weights and of C, and the machine."""

    value: float
    slopes: Array  # (k + 1,)
    machine: Machine


@dataclass(frozen=True)
class SpanBound:
    """The bound of one machine as a function of kernel weights and C.

    `distances` (k, n, n) are squared, of each model; `targets` (n,) are +1 and -1, both of them; `temperature` is H of the paper.
    """

    distances: Array
    targets: Array
    temperature: float = 0.3
    eta: float = 0.1

    def at(self, log_weights: Array, log_penalty: float) -> Bound:
        """The bound and its slopes."""
        weights, penalty = np.exp(log_weights), float(np.exp(log_penalty))
        K = np.exp(-0.5 * np.tensordot(weights, self.distances, axes=1))
        machine = trained(K, self.targets, penalty)
        chosen = machine.support
        n, y = len(self.targets), self.targets[chosen]
        a, alpha = machine.dual[chosen], machine.dual[chosen] * y
        own = K[np.ix_(chosen, chosen)] + np.eye(len(chosen)) / penalty
        inverse = np.linalg.inv(_bordered(own + np.diag(self.eta / alpha)))[:-1, :-1]
        diagonal = inverse.diagonal()
        spans = 1.0 / diagonal - self.eta / alpha
        rates = expit((alpha * spans - 1.0) / self.temperature)
        value = float(rates.sum() + (n - len(chosen)) * expit(-1.0 / self.temperature)) / n
        steep = rates * (1.0 - rates) / (self.temperature * n)
        # What a change of the matrix does by itself, and by changing alpha.
        direct = (inverse * (steep * alpha / diagonal**2)) @ inverse
        by_alpha = steep * (spans + self.eta / alpha) - direct.diagonal() * self.eta / alpha**2
        through = np.linalg.solve(_bordered(own), np.append(by_alpha * y, 0.0))[:-1]
        slopes = direct - 0.5 * (np.outer(through, a) + np.outer(a, through))
        weighted = slopes * K[np.ix_(chosen, chosen)]
        by_weight = [
            -0.5 * w * (weighted * d[np.ix_(chosen, chosen)]).sum()
            for w, d in zip(weights, self.distances, strict=True)
        ]
        return Bound(value, np.append(by_weight, -slopes.trace() / penalty), machine)


def trained(K: Array, targets: Array, penalty: float) -> Machine:
    """The machine with squared slacks for targets +1 and -1, both of them; exact on its support vectors."""
    n = len(targets)
    whole = K + np.eye(n) / penalty
    low, high = np.where(targets > 0, 0.0, -np.inf), np.where(targets > 0, np.inf, 0.0)
    a = np.zeros(n)
    descend(whole, targets.astype(np.float64), low, high, a, TOLERANCE, MOST_STEPS)
    support = np.flatnonzero(np.abs(a) > SUPPORT * np.abs(a).max())
    while True:
        solved = np.linalg.solve(_bordered(whole[np.ix_(support, support)]), np.append(targets[support], 0.0))
        kept = solved[:-1] * targets[support] > 0
        if kept.all():
            break
        support = support[kept]
    dual = np.zeros(n)
    dual[support] = solved[:-1]
    return Machine(dual, float(solved[-1]), support)


def equal_weights(distances: Array) -> Array:
    """Weights (k,) under which each model has the same part of the weighted squared distances, whose mean is one."""
    k, n = distances.shape[:2]
    means = distances.sum(axis=(1, 2)) / max(1, n * (n - 1))
    return np.asarray(1.0 / (k * np.where(means > 0, means, 1.0)))


def lowest(
    bounds: list[SpanBound], max_steps: int, *, start: tuple[Array, float] | None = None, pull: float = 0.0
) -> Descent:
    """Weights and C at which the sum of the bounds is lowest, by descent from a start.

    Without one, from weights under which the sum of weighted squared distances is one on average. `pull` adds to each bound this
    many times the variance of the logarithms of the weights in relation to those of the start; infinity leaves the start.
    """
    weights, penalty = start or (equal_weights(bounds[0].distances), START_PENALTY)
    start_at = np.append(np.log(weights), np.log(penalty))
    k = len(weights)
    limits = [LOG_WEIGHTS] * k + [LOG_PENALTIES]
    start_at = np.clip(start_at, *np.array(limits).T)
    values: list[float] = []
    path: list[Array] = [np.exp(start_at[:-1])]

    def objective(parameters: Array) -> tuple[float, Array]:
        return pulled_sum(bounds, parameters, start_at, pull)

    def note(intermediate_result: OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        path.append(np.exp(intermediate_result.x[:-1]))

    if not max_steps or not np.isfinite(pull):
        weights, value = path[0], pulled_sum(bounds, start_at, start_at, 0.0)[0]
        return Descent(weights, float(np.exp(start_at[-1])), np.array([value]), np.array(path))
    values.append(objective(start_at)[0])
    options = {"maxiter": max_steps}
    result = minimize(objective, start_at, jac=True, method="L-BFGS-B", bounds=limits, callback=note, options=options)
    best = result.x if result.fun <= values[0] else start_at
    return Descent(np.exp(best[:-1]), float(np.exp(best[-1])), np.array(values), np.array(path))


def pulled_sum(bounds: list[SpanBound], parameters: Array, start: Array, pull: float) -> tuple[float, Array]:
    """The sum of the bounds at the logarithms of weights and C (k + 1,), with what pulls the weights together, and its slopes.

    Weights are pulled towards a common multiple of those of the start.
    """
    found = [bound.at(parameters[:-1], float(parameters[-1])) for bound in bounds]
    apart = parameters[:-1] - start[:-1]
    apart = apart - apart.mean()
    strength = len(bounds) * pull / len(apart)
    value = sum(each.value for each in found) + strength * float(apart @ apart)
    return value, np.sum([each.slopes for each in found], axis=0) + np.append(2.0 * strength * apart, 0.0)


def _bordered(matrix: Array) -> Array:
    """With a row and a column of ones, and a zero where they meet."""
    n = len(matrix)
    whole = np.ones((n + 1, n + 1))
    whole[:n, :n] = matrix
    whole[n, n] = 0.0
    return whole
