"""One weight for each dimension and the noise, by maximising the evidence: a thousand at a time. [Rodner2012, eq. 8 and
section 7]

A = sum_d w_d K_d + r diag(balance) has a variance for each dimension. With P = A^-1 without the mean (see
`fewsight.gp.evidence`) and dual weights D = P targets, the evidence of c columns has the slopes 1/2 (explained_d - expected_d)
for explained_d = sum D^T K_d D and expected_d = c tr(P K_d). For all d at once, and likewise for the noise,

    w_d <- the w that maximises -1/2 (explained_d w_d^2 / w + expected_d w)  =  w_d sqrt(explained_d / expected_d)

never makes it worse: a minorise-maximise step for variance components [Zhou2019]. It needs no step length and keeps weights
positive. But a thousand weights fit the targets of the training examples alone, and the evidence grows while new examples are
ranked worse and worse. So the logarithms of the weights have a prior: Gaussian around their mean with a standard deviation
`spread`, which enters the same step. Dimensions about which the targets say little stay where they are.

The traces come from random signs z, as (P z)^T K_d z with z centred (P does not see constants): exact where n is small, else with
the same signs in every step. Products with K alone are needed, and one pass over the non-zeros for all slopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fewsight._base.checks import check_integer, check_matrix, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.gp._checks import check_per_example
from fewsight.gp.linear_systems import Solution, conjugate_gradients
from fewsight.gp.noise_levels import MOST_EXACT
from fewsight.gp.operators import ColumnOperator, whole

WHO = "learn_relevance"
PROBES = 16
LEAST_WEIGHT = 1e-8  # of the largest
LEAST_SHARE = (
    0.05  # of what a dimension would explain if P were a multiple of the identity: a trace is never less than zero
)
LEAST_LEVEL = 1e-3  # of the mean diagonal: with less noise, systems take ever longer to solve
MOST_ITERATIONS = 200  # of conjugate gradients, for slopes that need not be exact
LONGEST_STEP = 3.0  # of a logarithm
SPREAD = 0.5
TINY = 1e-300


class WeightedOperator(ColumnOperator, Protocol):
    """K = sum_d weights[d] K_d."""

    @property
    def weights(self) -> Array:
        """(d,)"""
        ...

    def with_weights(self, weights: Any) -> Self:
        """The same with other weights."""
        ...

    def weight_inners(self, U: Any, V: Any) -> Array:
        """For each d the sum over columns of u^T K_d v."""
        ...

    def dimension_traces(self) -> Array:
        """For each d the trace of K_d."""
        ...


@final
@dataclass(frozen=True, eq=False)
class LearnedRelevance:
    """Weights (d,) and the noise level, at the scale that the evidence likes best."""

    weights: Array
    noise_level: float
    steps: int
    products: int  # with K, all columns together


@final
@dataclass(frozen=True, eq=False)
class Slopes:
    """sum D^T M D and c tr(P M) for M = K_d and for the noise: the evidence grows with a weight where the first is larger."""

    explained: Array  # (d,)
    expected: Array  # (d,)
    noise_explained: float
    noise_expected: float
    products: int
    solution: Array  # A^-1 of targets, ones and probes, to start the next from

    @property
    def d_weights(self) -> Array:
        """Derivatives of the log evidence for the weights."""
        return 0.5 * (self.explained - self.expected)

    @property
    def d_noise(self) -> float:
        """Derivative of the log evidence for the noise level."""
        return 0.5 * (self.noise_explained - self.noise_expected)


def evidence_slopes(
    operator: WeightedOperator,
    targets: Array,
    level: float,
    *,
    balance: Array | None = None,
    probes: int | None = None,
    tolerance: float = 1e-3,
    start: Array | None = None,
    random_state: int = 0,
) -> Slopes:
    """Slopes of the evidence with free means for K + level * diag(balance); exact traces where `probes` is None and n small."""
    targets = check_matrix(WHO, "targets", targets, shape=(operator.n, None))
    n, c = targets.shape
    factors = check_per_example(WHO, "balance", 1.0 if balance is None else balance, n)
    Z = _signs(n, probes, random_state)
    sides = np.hstack([targets, np.ones((n, 1)), Z])
    solved = _solved(operator, sides, level * factors, tolerance, start)
    u = solved.columns[:, c]
    total = float(u.sum())
    D = solved.columns[:, :c] - np.outer(u, u @ targets) / total
    PZ = solved.columns[:, c + 1 :] - np.outer(u, u @ Z) / total
    share = float(np.einsum("ij,ij->", Z, Z)) / n  # how many times over the signs count the trace
    typical = float(np.einsum("ij,ij->", PZ, Z)) / (share * n)  # P is close to this times the identity: that is exact
    centred = Z - Z.mean(axis=0)
    rest, one = (PZ - typical * centred) / share, np.ones((n, 1))
    traces = operator.dimension_traces() - operator.weight_inners(one, one) / n
    expected = np.maximum(operator.weight_inners(rest, centred) + typical * traces, LEAST_SHARE * typical * traces)
    noise_expected = float(np.einsum("i,ij,ij->", factors, PZ, Z)) / share
    return Slopes(
        operator.weight_inners(D, D),
        c * expected,
        float(np.einsum("i,ij,ij->", factors, D, D)),
        c * noise_expected,
        solved.iterations,
        solved.columns,
    )


def learn_relevance(
    operator: WeightedOperator,
    targets: Array,
    level: float,
    *,
    groups: Indices | None = None,
    balance: Array | None = None,
    spread: float = SPREAD,
    steps: int = 10,
    probes: int | None = None,
    tolerance: float = 1e-3,
    random_state: int = 0,
) -> LearnedRelevance:
    """Weights and noise level that maximise the evidence, from those of the operator and `level` on.

    Parameters
    ----------
    groups : a number for each dimension; dimensions with the same one share their weight. None: each has its own.
    balance : factors of the noise of each example.
    spread : how far the logarithms of the weights may lie apart, as a standard deviation of a prior; infinity for none.
    steps : of the minorise-maximise iteration.
    probes : random signs for the traces; None for 16, or for exact traces up to 500 examples.
    """
    steps = check_integer(WHO, "steps", steps, least=1)
    if not spread > 0:
        raise InvalidInput(f"{WHO}: spread must be a number > 0, got {shown(spread)}.")
    level = check_positive(WHO, "level", level)
    weights, products = np.array(operator.weights), 0
    start: Array | None = None
    for _ in track(range(steps), "relevance weights", steps):
        slopes = evidence_slopes(
            operator.with_weights(weights),
            targets,
            level,
            balance=balance,
            probes=probes,
            tolerance=tolerance,
            start=start,
            random_state=random_state,
        )
        weights = _stepped(weights, slopes, operator.dimension_traces(), groups, spread)
        level *= float(np.sqrt(max(slopes.noise_explained, TINY) / max(slopes.noise_expected, TINY)))
        level = max(level, LEAST_LEVEL * float(weights @ operator.dimension_traces()) / operator.n)
        products, start = products + slopes.products, slopes.solution
    return LearnedRelevance(weights, level, steps, products)


def _solved(operator: ColumnOperator, sides: Array, noise: Array, tolerance: float, start: Array | None) -> Solution:
    """By factorisation where n is small, else by conjugate gradients."""
    if operator.n > MOST_EXACT:
        return conjugate_gradients(
            operator, sides, noise, tolerance=tolerance, start=start, max_iterations=MOST_ITERATIONS
        )
    columns = cho_solve(cho_factor(whole(operator) + np.diag(noise), lower=True), sides)
    return Solution(columns, 0, 0.0, True)


def _stepped(weights: Array, slopes: Slopes, traces: Array, groups: Indices | None, spread: float) -> Array:
    """The next weights; those of dimensions that no example has stay as they are. Groups count as one weight each."""
    numbers = np.arange(len(weights)) if groups is None else groups
    falling, rising, seen = (
        np.bincount(numbers, weights=part, minlength=int(numbers.max(initial=-1)) + 1)
        for part in (slopes.explained * weights, slopes.expected * weights, traces)
    )
    known = seen > 0
    down: Array = np.maximum(falling[known], TINY, dtype=np.float64)
    up: Array = np.maximum(rising[known], TINY, dtype=np.float64)
    logs = np.bincount(numbers, weights=np.log(np.maximum(weights, TINY))) / np.maximum(np.bincount(numbers), 1)
    steps = np.zeros(len(seen))
    steps[known] = _step(down, up, logs[known], spread)
    changed = weights * np.exp(steps[numbers])
    return np.maximum(changed, LEAST_WEIGHT * changed.max(initial=0.0))


def _step(falling: Array, rising: Array, logs: Array, spread: float) -> Array:
    """Changes t of the logarithms that maximise -(falling exp(-t) + rising exp(t)) / 2 - (logs + t - mean)^2 / (2 spread^2).

    The slope falls with t, so that halving an interval finds its zero.
    """
    pull, apart = 1.0 / spread**2, logs - logs.mean()
    low, high = np.full_like(logs, -LONGEST_STEP), np.full_like(logs, LONGEST_STEP)
    for _ in range(40):
        t = 0.5 * (low + high)
        up = 0.5 * (falling * np.exp(-t) - rising * np.exp(t)) > pull * (apart + t)
        low, high = np.where(up, t, low), np.where(up, high, t)
    return 0.5 * (low + high)


def _signs(n: int, probes: int | None, random_state: int) -> Array:
    """Random signs (n, probes), or a matrix whose columns count the trace exactly."""
    if probes is None and n <= MOST_EXACT:
        return np.eye(n)
    count = PROBES if probes is None else check_integer(WHO, "probes", probes, least=1)
    return np.random.default_rng(random_state).choice([-1.0, 1.0], (n, count))
