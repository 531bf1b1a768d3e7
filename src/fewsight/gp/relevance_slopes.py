"""What the evidence says about the weight of each dimension: a thousand slopes from products with K alone.

A = sum_d w_d K_d + r diag(balance). With P = A^-1 without the mean (see `fewsight.gp.evidence`) and dual weights D = P targets,
the evidence of c columns has the slopes 1/2 (explained_d - expected_d) for explained_d = sum D^T K_d D and
expected_d = c tr(P K_d). The traces come from random signs z, as (P z)^T K_d z with z centred (P does not see constants): exact
where n is small, else with the same signs in every step. One pass over the non-zeros gives all slopes.

Both are sums over pairs of examples, and *own* is what the pairs of an example with itself add. That part says nothing about a
dimension: it is large where the examples that have it are ill explained, as the few of a rare class always are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fewsight._base.checks import check_integer, check_matrix
from fewsight._base.types import Array
from fewsight.gp._checks import check_per_example
from fewsight.gp.linear_systems import Solution, conjugate_gradients
from fewsight.gp.noise_levels import MOST_EXACT
from fewsight.gp.operators import ColumnOperator, whole

WHO = "learn_relevance"
LEAST_PROBES, MOST_PROBES, COLUMNS_A_PROBE = 16, 128, 4  # the more columns, the less may traces be in error
LEAST_SHARE = (
    0.05  # of what a dimension would explain if P were a multiple of the identity: a trace is never less than zero
)
MOST_ITERATIONS = 200  # of conjugate gradients, for slopes that need not be exact


class WeightedOperator(ColumnOperator, Protocol):
    """K = sum_d weights[d] K_d."""

    @property
    def weights(self) -> Array:
        """(d,)"""
        ...

    def with_weights(self, weights: Array) -> Self:
        """The same with other weights."""
        ...

    def weight_inners(self, U: Array, V: Array) -> Array:
        """For each d the sum over columns of u^T K_d v."""
        ...

    def dimension_traces(self, counts: Array | None = None) -> Array:
        """For each d the trace of K_d, or the sum of counts times its diagonal."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Slopes:
    """sum D^T M D and c tr(P M) for M = K_d and for the noise: the evidence grows with a weight where the first is larger."""

    explained: Array  # (d,)
    expected: Array  # (d,)
    own_explained: Array  # (d,) of it by examples themselves
    own_expected: Array  # (d,)
    noise_explained: float
    noise_expected: float
    scale: float  # the common factor of kernel and noise that the evidence likes best
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

    def falling(self, *, pairs: bool) -> Array:
        """`explained` at the best scale, in units of `expected`; with `pairs` examples explain of themselves what is expected."""
        if not pairs:
            return self.explained / self.scale
        return np.maximum((self.explained - self.own_explained) / self.scale + self.own_expected, 0.0)


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
    targets = targets - targets.mean(axis=0)  # P does not see it, but the residual of a rare class would drown in it
    factors = check_per_example(WHO, "balance", 1.0 if balance is None else balance, n)
    Z = _signs(n, c, probes, random_state)
    sides = np.hstack([targets, np.ones((n, 1)), Z])
    solved = _solved(operator, sides, level * factors, tolerance, start)
    u = solved.columns[:, c]
    D = _without_mean(solved.columns[:, :c], u, targets)
    PZ = _without_mean(solved.columns[:, c + 1 :], u, Z)
    expected, own = _traces(operator, PZ, Z)
    share = _share(Z)
    return Slopes(
        operator.weight_inners(D, D),
        c * expected,
        operator.dimension_traces(np.einsum("ij,ij->i", D, D)),
        c * own,
        float(np.einsum("i,ij,ij->", factors, D, D)),
        c * float(np.einsum("i,ij,ij->", factors, PZ, Z)) / share,
        float(np.einsum("ij,ij->", D, targets)) / ((n - 1) * c),
        solved.iterations,
        solved.columns,
    )


def _traces(operator: WeightedOperator, PZ: Array, Z: Array) -> tuple[Array, Array]:
    """tr(P K_d) of each dimension, and what the diagonals of P and K_d add to it."""
    n, share = len(Z), _share(Z)
    typical = float(np.einsum("ij,ij->", PZ, Z)) / (share * n)  # P is close to this times the identity: that is exact
    centred = Z - Z.mean(axis=0)
    rest, one = (PZ - typical * centred) / share, np.ones((n, 1))
    traces = operator.dimension_traces()
    near = traces - operator.weight_inners(one, one) / n
    expected = operator.weight_inners(rest, centred) + typical * near
    own = operator.dimension_traces(np.einsum("ij,ij->i", rest, centred)) + typical * (1.0 - 1.0 / n) * traces
    return np.maximum(expected, LEAST_SHARE * typical * near), own


def _share(Z: Array) -> float:
    """How many times over the signs count the trace."""
    return float(np.einsum("ij,ij->", Z, Z)) / len(Z)


def _without_mean(columns: Array, of_ones: Array, sides: Array) -> Array:
    """P sides from A^-1 sides and A^-1 1."""
    return columns - np.outer(of_ones, of_ones @ sides) / float(of_ones.sum())


def _solved(operator: ColumnOperator, sides: Array, noise: Array, tolerance: float, start: Array | None) -> Solution:
    """By factorisation where n is small, else by conjugate gradients."""
    if operator.n > MOST_EXACT:
        return conjugate_gradients(
            operator, sides, noise, tolerance=tolerance, start=start, max_iterations=MOST_ITERATIONS
        )
    columns = cho_solve(cho_factor(whole(operator) + np.diag(noise), lower=True), sides)
    return Solution(columns, 0, 0.0, True)


def _signs(n: int, columns: int, probes: int | None, random_state: int) -> Array:
    """Random signs (n, probes), or a matrix whose columns count the trace exactly."""
    if probes is None and n <= MOST_EXACT:
        return np.eye(n)
    usual = min(max(columns // COLUMNS_A_PROBE, LEAST_PROBES), MOST_PROBES)
    count = usual if probes is None else check_integer(WHO, "probes", probes, least=1)
    return np.random.default_rng(random_state).choice([-1.0, 1.0], (n, count))
