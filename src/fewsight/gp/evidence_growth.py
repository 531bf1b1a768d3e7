"""Which further kernel would raise the evidence: its slope at weight zero, and weights that may be zero.

With A = sum_i w_i K_i + noise, dual weights D = A^-1 targets and c columns, the slope of the log evidence for the weight of a
kernel K that is not in the sum yet is

    (sum_c d_c^T K d_c - c tr(A^-1 K)) / 2 = -1/2 sum(W * K),    W = c A^-1 - D D^T:

one matrix W serves all kernels. It is the counterpart of T - lambda in a support vector machine [Gehler2009, eq. 5]: what K
explains, less what it costs. Where the slope is not above zero the best weight is zero, so that no further penalty is needed for
few kernels; the search runs over the weights themselves, which unlike their logarithms reach zero.

Few kernels are not always the best to decide with. As the squared norm of weights does in [Gehler2009, eq. 6], `spread` times the
sum of the squared shares of the weights, taken off the evidence per target, keeps more of them, and lets weights be zero still.

Targets of +1 and -1 have no noise of their own, and with many examples the evidence likes hardly any: weights learned beside so
little decide less well. A least noise keeps it from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from fewsight._base.checks import check_integer, check_number
from fewsight._base.types import Array, Indices
from fewsight.gp._checks import check_grams, check_per_example, check_some_targets
from fewsight.gp.evidence import Patterns, evaluate
from fewsight.gp.gram_sums import Grams

LEAST_NOISE, MOST_NOISE = 1e-3, 1e2  # of the sum of the weights
START_NOISE = 0.2
STEEPNESS = 250.0  # what the search sees is this times the evidence per target
NOTHING = 1e-6  # a weight below this share of the sum is none
TOLERANCE = 1e-6


@final
@dataclass(frozen=True, eq=False)
class EvidenceSlope:
    """The slope of the log evidence for the weight of any kernel: -1/2 sum(W * K)."""

    W: Array  # (n, n)
    dual_weights: Array  # (n, c)

    @classmethod
    def at(cls, K: Array, targets: Array, noise: Array | float, *, free_mean: bool = False) -> EvidenceSlope:
        """Of the kernel K (n, n) with noise (n,) and targets (n, c); with `free_mean`, differences of targets alone count."""
        who = "EvidenceSlope"
        (matrix,) = check_grams(who, [K])
        targets = check_some_targets(who, targets, len(matrix))
        A = matrix + np.diag(check_per_example(who, "noise", noise, len(targets)))
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(A), np.eye(len(A)))
        if free_mean:
            u = inverse.sum(axis=1)
            inverse -= np.outer(u, u) / u.sum()
        D = inverse @ targets
        return cls(targets.shape[1] * inverse - D @ D.T, D)

    def of(self, K: Array) -> float:
        """The slope for the weight of a kernel (n, n), wherever its weight is now."""
        return -0.5 * float(np.einsum("ij,ij->", self.W, K))

    def of_all(self, grams: Grams) -> Array:
        """The slope for each of many kernels (k,)."""
        return -0.5 * grams.inners(self.W)


@final
@dataclass(frozen=True, eq=False)
class GrownWeights:
    """Kernels chosen out of candidates, with weights that add up to 1, and the noise beside them."""

    chosen: Indices  # (m,), numbers of candidates, in the order in which they joined
    weights: Array  # (m,)
    noise_level: float
    log_evidence: float
    largest_slope: float  # of a candidate without weight, per target: none would help where it is not above the gain
    n_rounds: int


def sparse_weights(
    grams: Grams,
    targets: Array,
    balance: Array,
    start: Array,
    noise_level: float,
    *,
    free_mean: bool = True,
    spread: float = 0.0,
    least_noise: float = LEAST_NOISE,
) -> tuple[Array, float, float]:
    """Weights >= 0 that add up to 1, noise level and log evidence, at the maximum over both and their scale of the evidence per
    target less `spread` times the sum of the squared shares."""
    patterns = Patterns.of(targets)

    def fall(place: Array) -> tuple[float, Array]:
        weights, level = place[:-1], float(np.exp(place[-1]))
        total = float(weights.sum()) or 1.0  # where nothing has weight there is noise alone, of any scale
        noise = level * total * balance
        found, _ = evaluate(grams, weights, targets, noise, free_mean=free_mean, any_scale=True, patterns=patterns)
        penalty, d_penalty = _concentration(weights)
        d_level = float(found.d_noise @ balance)
        gradient = np.append(found.d_weights + level * d_level, level * total * d_level) / targets.size
        gradient[:-1] -= spread * d_penalty
        return -STEEPNESS * (found.value / targets.size - spread * penalty), -STEEPNESS * gradient

    levels = (least_noise, max(MOST_NOISE, least_noise))
    box = np.array([(0.0, 1e3)] * len(grams) + [tuple(np.log(levels))])
    first = np.append(start, np.log(np.clip(noise_level, *levels)))
    found = minimize(
        fall, first, jac=True, bounds=box, method="L-BFGS-B", options={"ftol": TOLERANCE, "gtol": TOLERANCE * STEEPNESS}
    )
    weights, level, total = found.x[:-1], float(np.exp(found.x[-1])), float(found.x[:-1].sum())
    if not total > 0:  # noise alone explains the targets
        value = -fall(first)[0] / STEEPNESS + spread * _concentration(start)[0]
        return start, noise_level, value * targets.size
    value = -float(found.fun) / STEEPNESS + spread * _concentration(weights)[0]
    weights = np.where(weights > NOTHING * total, weights, 0.0)
    return weights / weights.sum(), level, value * targets.size


def _concentration(weights: Array) -> tuple[float, Array]:
    """The sum of the squared shares of weights >= 0, from 1 / k to 1, and its derivatives; 0 where nothing has weight."""
    total = float(weights.sum())
    if not total > 0:
        return 0.0, np.zeros(len(weights))
    shares = weights / total
    value = float(shares @ shares)
    return value, 2.0 * (shares - value) / total


def grow_weights(
    candidates: Grams,
    targets: Array,
    *,
    balance: Array | None = None,
    gain: float = 1e-4,
    most: int | None = None,
    per_round: int | None = None,
    free_mean: bool = True,
    spread: float = 3e-3,
    least_noise: float = 0.1,
) -> GrownWeights:
    """Choose kernels by evidence: the best alone first, then round by round those with the largest slope at weight zero.

    Parameters
    ----------
    candidates : k Gram matrices (n, n) with a mean diagonal of 1.
    targets : (n, c).
    balance : factors (n,) of the noise of each example.
    gain : a kernel joins if the slope of the evidence per target is above this.
    most : no more kernels than this; None: as many as there are.
    per_round : how many may join in a round; None: a fifth of the candidates, or five of a few.
    free_mean : let each column of targets have an unknown constant, see `fewsight.gp.evidence`.
    spread : how much the sum of the squared weights, times k, counts against the evidence per target. That sum is 1 for equal
        weights and k for one kernel alone, so that above 0 more kernels share the weight; some may still have none.
    least_noise : the noise, relative to the sum of the weights, is not learned to be below this.
    """
    who = "grow_weights"
    candidates = check_grams(who, candidates)
    targets = check_some_targets(who, targets, candidates.side)
    balance = check_per_example(who, "balance", 1.0 if balance is None else balance, len(targets))
    gain = check_number(who, "gain", gain, least=0, most=1e6)
    k = len(candidates)
    most = check_integer(who, "most", k if most is None else most, least=1)
    per_round = check_integer(who, "per_round", max(k // 5, 5) if per_round is None else per_round, least=1)
    spread = k * check_number(who, "spread", spread, least=0, most=1e6)
    least_noise = check_number(who, "least_noise", least_noise, least=LEAST_NOISE, most=MOST_NOISE)
    at_mean = EvidenceSlope.at(candidates.mean(), _unit(targets), START_NOISE * balance, free_mean=free_mean)
    chosen = [int(np.argmax(at_mean.of_all(candidates)))]
    weights, level = np.ones(1), START_NOISE
    n_rounds = 0
    while True:
        n_rounds += 1
        among = candidates.chosen(np.array(chosen))
        weights, level, value = sparse_weights(
            among, targets, balance, weights, level, free_mean=free_mean, spread=spread, least_noise=least_noise
        )
        slopes = _slopes(among, weights, level, targets, balance, free_mean).of_all(candidates) / targets.size
        slopes += 2.0 * spread * _concentration(weights)[0]  # whatever joins makes the shares smaller
        slopes[chosen] = -np.inf
        order = np.argsort(-slopes, kind="stable")[:per_round]
        joining = [int(number) for number in order if slopes[number] > gain][: most - len(chosen)]
        if not joining:
            break
        chosen += joining
        weights = np.append(weights, np.full(len(joining), NOTHING))
    kept = np.flatnonzero(weights)
    largest = float(np.max(slopes, initial=-np.inf))
    return GrownWeights(np.array(chosen)[kept], weights[kept], level, value, largest, n_rounds)


def evidence_scale(grams: Grams, weights: Array, targets: Array, noise: Array, *, free_mean: bool = True) -> float:
    """The common factor of weights and noise that the evidence likes best."""
    return evaluate(grams, weights, targets, noise, free_mean=free_mean, any_scale=True)[0].scale


def _slopes(
    grams: Grams, weights: Array, level: float, targets: Array, balance: Array, free_mean: bool
) -> EvidenceSlope:
    """At the scale of weights and noise that the evidence likes best."""
    noise = level * balance
    scale = evidence_scale(grams, weights, targets, noise, free_mean=free_mean)
    return EvidenceSlope.at(grams.weighted_sum(weights), targets / np.sqrt(scale), noise, free_mean=free_mean)


def _unit(targets: Array) -> Array:
    """Targets of mean square one, column by column, whatever their mean."""
    centred = targets - targets.mean(axis=0)
    return np.asarray(centred / max(float(np.sqrt((centred**2).mean())), np.finfo(float).tiny))
