"""Several tasks as dependent Gaussian processes, and how much they have to do with the first one. [Rodner2010, eq. 3]

Support task s is rho_s times the target's function and sqrt(1 - rho_s^2) times one of its own, so that examples of the target
and of s covary rho_s times as much as their kernel says, and examples of two support tasks rho_s rho_t times as much. With
one support task this is the model of the paper; with several it stays positive semi-definite for all correlations from 0 to
1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from fewsight._base.types import Array, Indices
from fewsight.gp._cholesky import factorise, log_density, plain_factor, with_diagonal

NOISE_LADDER = (0.0, *(10.0**power for power in range(-8, 1)))  # [Rodner2010, section 5]
STARTS = (0.2, 0.8)  # the evidence may have several maxima


def task_covariance(K: Array, tasks: Indices, correlations: npt.ArrayLike) -> Array:
    """K with every entry between two tasks made smaller; tasks (n,) are 0 for the target and s for support task s."""
    return K * task_factors(tasks, tasks, correlations)


def task_factors(rows: Indices, columns: Indices, correlations: npt.ArrayLike) -> Array:
    """1 within a task, rho_s between the target and support task s, rho_s rho_t between two support tasks."""
    shares = _shares(correlations)
    factors = np.outer(shares[rows], shares[columns])
    factors[rows[:, None] == columns[None, :]] = 1.0
    return factors


def least_noise(K: Array) -> float:
    """The first of 0, 1e-8, 1e-7, ... that makes K positive definite when added to its diagonal; 1 for want of one."""
    for noise in NOISE_LADDER:
        if plain_factor(with_diagonal(np.array(K, order="F"), noise)) is not None:
            return noise
    return NOISE_LADDER[-1]


@final
@dataclass(frozen=True)
class LearnedCorrelations:
    """One for each support task, and the evidence of all labels with them."""

    correlations: Array
    log_evidence: float


def learn_correlations(
    K: Array, tasks: Indices, targets: Array, noise_variance: float, given: npt.NDArray[np.bool_] | None = None
) -> LearnedCorrelations:
    """The correlations that maximise the evidence of the targets (n,), or of those that are not given, given the others.

    Where most targets are a background's, their evidence drowns that of the few others and speaks against any correlation.
    """
    n_supports = int(tasks.max(initial=0))
    best = LearnedCorrelations(np.zeros(n_supports), -np.inf)

    def surprise(correlations: Array) -> tuple[float, Array]:
        value, gradient = evidence_of_correlations(K, tasks, correlations, targets, noise_variance)
        if given is not None and given.any():
            part = K[np.ix_(given, given)], tasks[given], correlations, targets[given], noise_variance
            value_given, gradient_given = evidence_of_correlations(*part)
            value, gradient = value - value_given, gradient - gradient_given
        return -value, -gradient

    for start in STARTS if n_supports else ():
        found = minimize(
            surprise, np.full(n_supports, start), jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * n_supports
        )
        if -found.fun > best.log_evidence:
            best = LearnedCorrelations(found.x, -float(found.fun))
    return best


def evidence_of_correlations(
    K: Array, tasks: Indices, correlations: Array, targets: Array, noise_variance: float
) -> tuple[float, Array]:
    """log p(targets) and its gradient: with W = A^-1 - d d^T, d = A^-1 targets, it is -1/2 sum(W * dA)."""
    A = task_covariance(K, tasks, correlations)
    factor, _ = factorise("evidence_of_correlations", lambda: with_diagonal(np.array(A, order="F"), noise_variance))
    column = targets[:, None]
    dual_weights = factor.solve(column)
    W = factor.inverse() - dual_weights @ dual_weights.T
    shares, products = _shares(correlations), W * K
    gradient = np.empty(len(shares) - 1)
    for support in range(1, len(shares)):
        inside = tasks == support
        gradient[support - 1] = -float((products[np.ix_(inside, ~inside)] @ shares[tasks[~inside]]).sum())
    return log_density(factor, column, dual_weights), gradient


def _shares(correlations: npt.ArrayLike) -> Array:
    """How much of each task is the target's function."""
    return np.concatenate([[1.0], np.asarray(correlations, dtype=np.float64).ravel()])
