"""Log evidence, its gradients, and the noise and kernel weights that maximise it. [Kapoor2010, sections 4.4 and 6]

A = sum_i w_i K_i + diag(noise) is shared by all c columns of targets, so with alpha = A^-1 targets and
W = c A^-1 - alpha alpha^T the gradient with respect to anything in A is -1/2 sum(W * dA): one factorisation and one
inverse, whatever the number of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import blas, lapack
from scipy.optimize import minimize, minimize_scalar

from fewsight._base.checks import check_integer, check_matrix, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp._checks import check_covariance, check_grams, check_per_example
from fewsight.gp._cholesky import LOG_TWO_PI, announce_jitter, factorise, log_density, with_diagonal

NOISE_RANGE = (1e-8, 1e2)  # of the scale of K, and of the larger of that scale and the targets'
WEIGHT_RANGE = (1e-6, 1e4)  # of the inverse of each K_i's mean diagonal
SCAN_PER_DECADE = 2  # the evidence has bumps about as wide as the spectrum of K has gaps
LOG_TOLERANCE = 1e-6  # of log(noise level)


@final
@dataclass(frozen=True)
class Evidence:
    """Log evidence summed over the columns of targets, and its derivatives for k weights and n noise variances."""

    value: float
    d_weights: Array
    d_noise: Array


@final
@dataclass(frozen=True)
class LearnedNoise:
    """noise_variance = level * balance; `at_bound` says that the evidence would have gone beyond the bounds."""

    level: float
    log_evidence: float
    at_bound: bool


@final
@dataclass(frozen=True)
class LearnedWeights:
    """Kernel weights (k,) and noise_variance = noise_level * balance, learned together."""

    weights: Array
    noise_level: float
    log_evidence: float
    evaluations: int


def log_evidence_and_gradients(
    grams: Sequence[Array], weights: Array, targets: Array, noise_variance: float | Array
) -> Evidence:
    """log p(targets (n, c)) under sum_i weights[i] grams[i] + diag(noise_variance), with gradients."""
    who = "log_evidence_and_gradients"
    grams = check_grams(who, grams)
    weights = check_matrix(who, "weights", np.reshape(weights, (-1, 1)), shape=(len(grams), 1))[:, 0]
    if (weights < 0).any():
        raise InvalidInput(f"{who}: weights must be >= 0, got {shown(weights)}.")
    targets = check_matrix(who, "targets", targets, shape=(len(grams[0]), None))
    noise = check_per_example(who, "noise_variance", noise_variance, len(targets))
    evidence, jitter = _evaluate(grams, weights, targets, noise)
    announce_jitter(who, jitter, f"all {len(targets)}")
    return evidence


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
    targets = _check_some_targets(who, targets, len(K))
    balance = check_per_example(who, "balance", 1.0 if balance is None else balance, len(K))
    low, high = _check_bounds(who, bounds, _scale(K), targets)
    root = np.sqrt(balance)
    evidence = _evidence_of_level(K / np.outer(root, root), targets / root[:, None])
    if not np.isfinite(evidence(high)):
        raise InvalidInput(f"{who}: K must be positive semi-definite, got one that no noise up to {high:.3g} makes so.")
    offset = targets.shape[1] * float(np.log(root).sum())  # log |diag(balance)| / 2 for each column
    level, value, at_bound = _maximise(evidence, low, high)
    return LearnedNoise(level, value - offset, at_bound)


def learn_weights_and_noise(
    grams: Sequence[Array],
    targets: Array,
    *,
    balance: Array | None = None,
    noise_level: float | None = None,
    noise_bounds: tuple[float, float] | None = None,
    n_starts: int = 1,
    random_state: int | None = None,
) -> LearnedWeights:
    """The weights >= 0 of the grams and the noise level that maximise the evidence together, by L-BFGS.

    A `noise_level` that is given stays as it is. The search runs over logarithms [Kapoor2010, section 6], first from
    equal shares of all grams and the noise that suits these, then from `n_starts - 1` random places; the best counts.
    """
    who = "learn_weights_and_noise"
    grams = check_grams(who, grams)
    targets = _check_some_targets(who, targets, len(grams[0]))
    balance = check_per_example(who, "balance", 1.0 if balance is None else balance, len(targets))
    n_starts = check_integer(who, "n_starts", n_starts, least=1)
    shares = np.array([1.0 / (len(grams) * _scale(K)) for K in grams])
    if noise_level is None:
        low, high = _check_bounds(who, noise_bounds, 1.0, targets)
        level = learn_noise(_weighted_sum(grams, shares), targets, balance=balance, bounds=(low, high)).level
    else:
        low = high = level = check_positive(who, "noise_level", noise_level)
    box = np.log(np.vstack([np.outer(shares, WEIGHT_RANGE), [low, high]]))
    starts = _starts(np.log(np.append(shares, level)), box, n_starts, random_state)
    searches = [minimize(_negative_evidence, at, (grams, targets, balance), jac=True, bounds=box) for at in starts]
    best = min(searches, key=lambda search: search.fun)
    found = np.exp(best.x)
    value = -float(best.fun) * targets.size
    return LearnedWeights(found[:-1], float(found[-1]), value, sum(search.nfev for search in searches))


def _evaluate(grams: Sequence[Array], weights: Array, targets: Array, noise: Array) -> tuple[Evidence, float]:
    """Evidence and the jitter it took; arguments are checked by the caller."""
    factor, jitter = factorise("evidence", lambda: with_diagonal(_weighted_sum(grams, weights), noise))
    dual_weights = factor.solve(targets)
    value = log_density(factor, targets, dual_weights)
    if not targets.size:
        return Evidence(value, np.zeros(len(grams)), np.zeros(len(noise))), jitter
    n_targets = float(targets.shape[1])
    W = blas.dsyrk(-1.0, dual_weights, beta=n_targets, c=factor.inverse_lower(), lower=1, overwrite_c=1)
    d_weights = np.array([-0.5 * _symmetric_inner(W, K) for K in grams])
    return Evidence(value, d_weights, -0.5 * W.diagonal()), jitter


def _symmetric_inner(lower: Array, K: Array) -> float:
    """sum(W * K) of two symmetric matrices, W given by its lower triangle in Fortran order with zeros above it."""
    half = float(np.einsum("ij,ij->", lower.T, K if K.flags.c_contiguous else K.T))
    return 2.0 * half - float(lower.diagonal() @ K.diagonal())


def _weighted_sum(grams: Sequence[Array], weights: Array) -> Array:
    """sum_i w_i K_i as a new matrix in Fortran order."""
    total = np.zeros_like(grams[0], order="C")
    for K, weight in zip(grams, weights, strict=True):
        total += weight * K
    return total.T


def _negative_evidence(logs: Array, grams: Sequence[Array], targets: Array, balance: Array) -> tuple[float, Array]:
    """What L-BFGS minimises over log(weights) and log(level): per target, so that tolerances suit any n."""
    weights, level = np.exp(logs[:-1]), np.exp(logs[-1])
    evidence, _ = _evaluate(grams, weights, targets, level * balance)
    gradient = np.append(weights * evidence.d_weights, level * (evidence.d_noise @ balance))
    return -evidence.value / targets.size, -gradient / targets.size


def _starts(first: Array, box: Array, n_starts: int, random_state: int | None) -> Array:
    """Where the searches begin (n_starts, k + 1): the first place given, the others within some e^2 of it."""
    starts = np.random.default_rng(random_state).normal(first, 2.0, (n_starts, len(first)))
    starts[0] = first
    return np.clip(starts, box[:, 0], box[:, 1])


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


def _check_some_targets(owner: str, targets: Any, n: int) -> Array:
    targets = check_matrix(owner, "targets", targets, shape=(n, None))
    if not targets.size:
        raise InvalidInput(f"{owner}: targets must hold at least one number, got none.")
    return targets


def _check_bounds(owner: str, bounds: Any, scale: float, targets: Array) -> tuple[float, float]:
    """The given bounds, or wide ones: beyond the upper one no noise explains targets of this size better."""
    if bounds is None:
        return NOISE_RANGE[0] * scale, NOISE_RANGE[1] * max(scale, float(np.mean(targets**2)))
    low, high = (float(bound) for bound in bounds)
    if not 0 < low < high < np.inf:
        raise InvalidInput(f"{owner}: bounds must be two finite numbers, 0 < low < high, got {shown(bounds)}.")
    return low, high


def _scale(K: Array) -> float:
    """The mean diagonal, or 1 for a kernel that is zero."""
    mean = float(K.diagonal().mean())
    return mean if mean > 0 else 1.0
