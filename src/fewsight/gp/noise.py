"""The noise level that maximises the evidence of one Gram matrix. [Kapoor2010, section 4.4]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize_scalar

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp._checks import check_covariance, check_per_example, check_some_targets
from fewsight.gp._cholesky import LOG_TWO_PI, least_eigenvalue
from fewsight.gp.gram_sums import scale_of

NOISE_RANGE = (1e-8, 1e2)  # of the scale of K, and of the larger of that scale and the targets'
SCAN_PER_DECADE = 2  # the evidence has bumps about as wide as the spectrum of K has gaps
LOG_TOLERANCE = 1e-6  # of log(noise level)


@final
@dataclass(frozen=True)
class LearnedNoise:
    """noise_variance = level * balance; `at_bound` says that the evidence would have gone beyond the bounds."""

    level: float
    log_evidence: float
    at_bound: bool


def learn_noise(
    K: Array, targets: Array, *, balance: Array | None = None, bounds: tuple[float, float] | None = None
) -> LearnedNoise:
    """The noise level within bounds that maximises the evidence of K + level * diag(balance).

    One reduction of the scaled K to tridiagonal form makes every further evaluation cost O(n c), so the bounds are
    scanned before the best level is refined: a local maximum does not catch it. Levels at which the matrix would not be
    positive definite are left out. Without bounds, they follow the scale of K and of the targets.
    """
    who = "learn_noise"
    K = check_covariance(who, "K", K)
    targets = check_some_targets(who, targets, len(K))
    balance = check_per_example(who, "balance", 1.0 if balance is None else balance, len(K))
    low, high = _check_bounds(who, bounds, scale_of(K), targets)
    root = np.sqrt(balance)
    evidence = _evidence_of_level(K / np.outer(root, root), targets / root[:, None])
    if not np.isfinite(evidence(high)):
        raise InvalidInput(
            f"{who}: K must be positive semi-definite, got one with the eigenvalue {least_eigenvalue(K):.3g} that no noise up to "
            f"{high:.3g} makes so."
        )
    offset = targets.shape[1] * float(np.log(root).sum())  # log |diag(balance)| / 2 for each column
    level, value, at_bound = _maximise(evidence, low, high)
    return LearnedNoise(level, value - offset, at_bound)


def _evidence_of_level(K: Array, targets: Array) -> Callable[[float], float]:
    """log p(targets) under K + level I as a function of the level; -inf where that is not positive definite."""
    diagonal, off_diagonal, rotated = _tridiagonalise(K, targets)
    n, n_targets = targets.shape

    def evidence(level: float) -> float:
        pivots, _, solved, failed = lapack.dptsv(diagonal + level, off_diagonal, rotated)
        if failed:
            return -np.inf
        log_determinant = float(np.log(pivots).sum())
        return -0.5 * (float(np.einsum("ij,ij->", rotated, solved)) + n_targets * (log_determinant + n * LOG_TWO_PI))

    return evidence


def _tridiagonalise(K: Array, targets: Array) -> tuple[Array, Array, Array]:
    """d, e and Q^T targets, where K = Q tri(d, e) Q^T with Q orthogonal. K is symmetric."""
    n = len(K)
    if n == 1:
        return K[0], np.zeros(1), targets  # the wrappers of LAPACK want an off-diagonal even here
    workspace = int(lapack.dsytrd_lwork(n, lower=1)[0])
    reflectors, diagonal, off_diagonal, tau, _ = lapack.dsytrd(K.T, lower=1, lwork=workspace)
    rotated = np.array(targets, order="F")
    below, rest = reflectors[1:, :-1], rotated[1:]  # Q leaves the first row alone
    workspace = int(lapack.dormqr("L", "T", below, tau, rest, -1)[1][0])
    rotated[1:] = lapack.dormqr("L", "T", below, tau, rest, workspace)[0]
    return diagonal, off_diagonal, rotated


def _maximise(evidence: Callable[[float], float], low: float, high: float) -> tuple[float, float, bool]:
    """The best level between two, its evidence, and whether it is an end of what is possible between them."""
    logs = np.linspace(np.log(low), np.log(high), 2 + int(np.ceil(SCAN_PER_DECADE * np.log10(high / low))))
    values = [evidence(float(np.exp(log))) for log in logs]
    best = int(np.argmax(values))
    first, last = int(np.argmax(np.isfinite(values))), len(logs) - 1  # more noise never harms definiteness
    around = logs[max(best - 1, first)], logs[min(best + 1, last)]
    refined = minimize_scalar(
        lambda log: -evidence(float(np.exp(log))), bounds=around, method="bounded", options={"xatol": LOG_TOLERANCE}
    )
    if -refined.fun > values[best]:
        return float(np.exp(refined.x)), -float(refined.fun), False
    return float(np.exp(logs[best])), values[best], best in (first, last)


def _check_bounds(owner: str, bounds: tuple[float, float] | None, scale: float, targets: Array) -> tuple[float, float]:
    """The given bounds, or wide ones: beyond the upper one no noise explains targets of this size better."""
    if bounds is None:
        return NOISE_RANGE[0] * scale, NOISE_RANGE[1] * max(scale, float(np.mean(targets**2)))
    low, high = (float(bound) for bound in bounds)
    if not 0 < low < high < np.inf:
        raise InvalidInput(f"{owner}: bounds must be two finite numbers, 0 < low < high, got {shown(bounds)}.")
    return low, high
