"""The upper bound of the negative log likelihood of all one-vs-all problems, and parameters that minimise it. [Rodner2012, section 5.2]

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
from fewsight.gp.linear_systems import Solution, check_noise, conjugate_gradients
from fewsight.gp.determinant_bound import bound_from_ritz, deflated_bound
from fewsight.gp.lanczos import Ritz, largest_eigenvalues
from fewsight.gp.operators import LinearOperator

WHO = "likelihood_bound"
BOUNDS: dict[str, Callable[[Ritz, float, int], float]] = {
    "bai_golub": bound_from_ritz,
    "deflated": deflated_bound,
    "tightest": lambda ritz, trace, n: min(bound_from_ritz(ritz, trace, n), deflated_bound(ritz, trace, n)),
}


@final
@dataclass(frozen=True, eq=False)
class LikelihoodBound:
    """An upper bound of -log p(targets), summed over the columns, and what it is made of."""

    value: float
    data_term: float  # 1/2 sum y^T (K + N)^-1 y
    log_determinant: float  # bound of the sum of log |K + N| over the columns
    solution: Solution  # of the systems, to start the next ones from


def likelihood_bound(
    operator: LinearOperator,
    targets: Array,
    noise: float | Array,
    *,
    n_eigenvalues: int | None = None,
    bound: str = "bai_golub",
    tolerance: float = 1e-4,
    start: Array | None = None,
    random_state: int = 0,
) -> LikelihoodBound:
    """The bound for K + noise, where noise is one number, one for each example (n,) or a column for each problem (n, c).

    `n_eigenvalues` are as many as there are columns unless given, as in the paper, but no more than a tenth of n.
    The data term is below its true value by at most the relative residual, so a loose tolerance may break the bound by that.
    """
    targets = check_matrix(WHO, "targets", targets, shape=(operator.n, None))
    N = check_noise(noise, targets.shape)
    of_ritz = BOUNDS[check_choice(WHO, "bound", bound, BOUNDS)]
    n, c = targets.shape
    wanted = n_eigenvalues if n_eigenvalues is not None else max(1, min(c, n // 10))
    count = check_integer(WHO, "n_eigenvalues", wanted, least=1)
    solution = conjugate_gradients(operator, targets, N, tolerance=tolerance, start=start)
    kernel_trace = float(operator.diag().sum())
    log_determinants = []
    for column in range(N.shape[1]):
        ritz = largest_eigenvalues(operator, count, noise=N[:, column], random_state=random_state)
        log_determinants.append(of_ritz(ritz, kernel_trace + float(N[:, column].sum()), n))
    log_determinant = float(sum(log_determinants)) * (c if N.shape[1] == 1 else 1)
    data_term = 0.5 * float(np.einsum("ij,ij->", targets, solution.columns))
    value = data_term + 0.5 * log_determinant + 0.5 * n * c * LOG_TWO_PI
    return LikelihoodBound(value, data_term, log_determinant, solution)


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
    """The start and, for each parameter, a place where it is half as large again: logarithms near 0 have no scale of their own."""
    logs = np.log(start)
    return np.vstack([logs, logs + np.log(1.5) * np.eye(len(logs))])
