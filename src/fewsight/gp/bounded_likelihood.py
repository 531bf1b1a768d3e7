"""The upper bound of the negative log likelihood of all one-vs-all problems, and parameters that minimise it. [Rodner2012,
section 5.2]

The data term comes from conjugate gradients, the bound of the log-determinant from a few Ritz values and the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import minimize

from fewsight._base.checks import check_choice, check_integer, check_matrix
from fewsight._base.types import Array
from fewsight.gp._cholesky import LOG_TWO_PI
from fewsight.gp.determinant_bound import bound_from_ritz, deflated_bound
from fewsight.gp.lanczos import Ritz, largest_eigenvalues
from fewsight.gp.linear_systems import Solution, check_noise, conjugate_gradients
from fewsight.gp.operators import LinearOperator

WHO = "likelihood_bound"
BOUNDS: dict[str, Callable[[Ritz, float, int], float]] = {
    "bai_golub": bound_from_ritz,
    "deflated": deflated_bound,
    "tightest": lambda ritz, trace, n: min(bound_from_ritz(ritz, trace, n), deflated_bound(ritz, trace, n)),
}
TINY = 1e-300


@final
@dataclass(frozen=True, eq=False)
class LikelihoodBound:
    """An upper bound of -log p(targets), summed over the columns, and what it is made of."""

    value: float
    data_term: float  # 1/2 sum y^T (K + N)^-1 y, at the scale
    log_determinant: float  # bound of the sum of log |K + N| over the columns
    solution: Solution  # of the systems, to start the next ones from


def likelihood_bound(
    operator: LinearOperator,
    targets: Array,
    noise: float | Array,
    *,
    free_mean: bool = False,
    any_scale: bool = False,
    n_eigenvalues: int | None = None,
    bound: str = "bai_golub",
    tolerance: float = 1e-4,
    start: Array | None = None,
    random_state: int = 0,
) -> LikelihoodBound:
    """The bound for K + noise, where noise is one number, one for each example (n,) or a column for each problem (n, c).

    `free_mean` and `any_scale` are those of `fewsight.gp.evidence`: a constant for each column about which nothing is known,
    and the best common factor of kernel and noise; the bound stays one. `n_eigenvalues` are as many as there are columns
    unless given, as in the paper, but no more than a tenth of n. The data term is below its true value by at most the
    relative residual, so a loose tolerance may break the bound by that.
    """
    targets = check_matrix(WHO, "targets", targets, shape=(operator.n, None))
    N = check_noise(noise, targets.shape)
    of_ritz = BOUNDS[check_choice(WHO, "bound", bound, BOUNDS)]
    n, c = targets.shape
    wanted = n_eigenvalues if n_eigenvalues is not None else max(1, min(c, n // 10))
    count = check_integer(WHO, "n_eigenvalues", wanted, least=1)
    sides, wide = _sides(targets, N, free_mean=free_mean)
    solution = conjugate_gradients(operator, sides, wide, tolerance=tolerance, start=start)
    misfit, of_mean = _misfit(solution.columns, targets)
    kernel_trace = float(operator.diag().sum())
    log_determinants = []
    for column in range(N.shape[1]):
        ritz = largest_eigenvalues(operator, count, noise=N[:, column], random_state=random_state)
        log_determinants.append(of_ritz(ritz, kernel_trace + float(N[:, column].sum()), n))
    log_determinant = (float(sum(log_determinants)) + of_mean) * (c if N.shape[1] == 1 else 1)
    freedom = (n - 1 if free_mean else n) * c
    scale = max(misfit / freedom, TINY) if any_scale else 1.0
    value = 0.5 * (misfit / scale + log_determinant + freedom * (LOG_TWO_PI + float(np.log(scale))))
    return LikelihoodBound(value, 0.5 * misfit / scale, log_determinant, solution)


def _sides(targets: Array, noise: Array, *, free_mean: bool) -> tuple[Array, Array]:
    """What to solve for: the targets and, for each noise, ones if there is a mean; and the noise of each of these."""
    if not free_mean:
        return targets, noise
    shared = noise.shape[1] == 1
    return np.hstack([targets, np.ones((len(targets), noise.shape[1]))]), noise if shared else np.hstack([noise, noise])


def _misfit(solved: Array, targets: Array) -> tuple[float, float]:
    """Sum of y^T A^-1 y with means that are fitted, and what these add to the log-determinants of all different noises."""
    n, c = targets.shape
    misfit, ones = float(np.einsum("ij,ij->", targets, solved[:, :c])), solved[:, c:]
    if not ones.size:
        return misfit, 0.0
    totals = ones.sum(axis=0)
    inners = np.einsum("ij,ij->j", np.broadcast_to(ones, targets.shape), targets)
    return misfit - float((inners**2 / totals).sum()), float(np.log(totals / n).sum())


@final
@dataclass(frozen=True)
class Minimum:
    """Parameters where a function was least, by Nelder and Mead's method on their logarithms."""

    parameters: Array
    value: float
    evaluations: int


def minimise(
    function: Callable[[Array], float], start: Array, *, tolerance: float = 1e-2, max_evaluations: int = 200
) -> Minimum:
    """The least value of a function of parameters > 0, without gradients. [Rodner2012, section 6.1]"""
    result = minimize(
        lambda logs: function(np.exp(logs)),
        np.log(start),
        method="Nelder-Mead",
        options={"xatol": tolerance, "fatol": tolerance, "maxfev": max_evaluations, "initial_simplex": _simplex(start)},
    )
    return Minimum(np.exp(result.x), float(result.fun), int(result.nfev))


def _simplex(start: Array) -> Array:
    """The start and, for each parameter, a place where it is half as large again: logarithms near 0 have no scale of their
    own."""
    logs = np.log(start)
    return np.vstack([logs, logs + np.log(1.5) * np.eye(len(logs))])
