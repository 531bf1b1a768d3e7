"""Weights of several Gram matrices and the noise, by maximising their penalised evidence. [Kapoor2010, section 6]

The search runs over the logarithms of the weights, for Gram matrices scaled to a mean diagonal of 1, and over the root of the
noise relative to their sum: near zero noise the evidence is a straight line in the noise, and as a function of its logarithm so
flat that a search creeps. Evidence and penalties count per target (there are n * c), so that a strength means the same for any n
and c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, final

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from fewsight._base.checks import check_choice, check_integer, check_number, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp._checks import check_grams, check_per_example, check_some_targets
from fewsight.gp.evidence import Evidence, Patterns, evaluate
from fewsight.gp.gram_sums import as_grams

PENALTIES = ("none", "l1", "l2", "even")
NOISE_BOUNDS = (1e-8, 1e2)  # of the sum of the weights
WEIGHT_BOUNDS = (1e-6, 1e6)  # of an equal share
START_NOISE = 0.1  # of the sum of the weights
STEEPNESS = 250.0  # what the search sees is this times the objective: about one over its curvature
SPREAD_OF_STARTS = 2.0  # standard deviation of the logarithms
Number = TypeVar("Number", float, Array)


@final
@dataclass(frozen=True)
class Penalty:
    """What weights w = exp(b) cost: strength * sum(w) ("l1"), sum(w^2) ("l2") or sum((b - mean b)^2) ("even").

    The first two pull weights to zero [Kapoor2010, section 6]; "even" pulls them to each other, that is, to the plain average:
    a log-normal prior around weights that are all alike.
    """

    kind: str = "none"
    strength: float = 0.0

    def __post_init__(self) -> None:
        check_choice(self, "kind", self.kind, PENALTIES)
        check_number(self, "strength", self.strength, least=0, most=1e12)

    @property
    def is_scale_free(self) -> bool:
        """Whether a common factor of all weights costs nothing."""
        return self.kind in ("none", "even") or self.strength == 0

    def cost(self, logs: Array) -> tuple[float, Array]:
        """The cost of exp(logs) and its gradient for the logs."""
        if self.kind == "even":
            apart = logs - logs.mean()
            return self.strength * float(apart @ apart), 2 * self.strength * apart
        power = {"none": 0, "l1": 1, "l2": 2}[self.kind]
        powers = self.strength * np.exp(power * logs)
        return (float(powers.sum()), power * powers) if power else (0.0, np.zeros_like(logs))


@final
@dataclass(frozen=True)
class LearnedWeights:
    """Kernel weights (k,) and noise_variance = noise_level * balance, learned together."""

    weights: Array
    noise_level: float
    log_evidence: float
    evaluations: int  # of evidence and gradient


def learn_weights_and_noise(
    grams: Sequence[Array],
    targets: Array,
    *,
    balance: Array | None = None,
    penalty: Penalty | None = None,
    free_mean: bool = False,
    noise_level: float | None = None,
    noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    start: LearnedWeights | None = None,
    n_starts: int = 1,
    tolerance: float = 1e-8,
    random_state: int | None = None,
) -> LearnedWeights:
    """The weights >= 0 of the grams and the noise level that maximise evidence minus penalty together, by L-BFGS.

    Parameters
    ----------
    grams : k Gram matrices (n, n): a list, or a `GramStack` of many.
    targets : (n, c).
    balance : factors (n,) of the noise of each example.
    penalty : what the weights cost; nothing unless given.
    free_mean : let each column of targets have an unknown constant, see `fewsight.gp.evidence`.
    noise_level : a level that stays as it is, instead of one that is learned.
    noise_bounds : of the learned level, relative to the prior variance that the weights add up to.
    start : weights and noise to begin with, instead of equal shares.
    n_starts, random_state : the search also begins at `n_starts - 1` random places; the best result counts.
    tolerance : the search ends when a step changes the objective by less, relatively.
    """
    who = "learn_weights_and_noise"
    grams = check_grams(who, grams)
    targets = check_some_targets(who, targets, grams.side)
    balance = check_per_example(who, "balance", 1.0 if balance is None else balance, len(targets))
    n_starts = check_integer(who, "n_starts", n_starts, least=1)
    fixed = None if noise_level is None else check_positive(who, "noise_level", noise_level)
    bounds = _check_bounds(who, noise_bounds)
    check_positive(who, "tolerance", tolerance)
    search = _Search(grams, targets, balance, penalty or Penalty(), free_mean, fixed)
    box = search.box(bounds)
    found = [search.run(at, box, tolerance) for at in _starts(search.first(start), box, n_starts, random_state)]
    best = min(found, key=lambda result: float(result.fun))
    return search.result(best.x, sum(int(result.nfev) for result in found))


@dataclass(frozen=True, eq=False)
class _Search:
    """One problem; a place is log(weights of unit Gram matrices) and, unless the noise is fixed, the root of noise / sum."""

    grams: Sequence[Array]
    targets: Array
    balance: Array
    penalty: Penalty
    free_mean: bool
    fixed_noise: float | None

    seen: dict[bytes, Evidence] = field(default_factory=dict)  # by place

    @cached_property
    def scales(self) -> Array:
        return as_grams(self.grams).scales()

    @cached_property
    def patterns(self) -> Patterns:
        return Patterns.of(self.targets)

    @property
    def any_scale(self) -> bool:
        return self.penalty.is_scale_free and self.fixed_noise is None

    def first(self, start: LearnedWeights | None) -> Array:
        k = len(self.grams)
        unit = np.full(k, 1.0 / k) if start is None else np.maximum(start.weights * self.scales, np.finfo(float).tiny)
        ratio = START_NOISE if start is None else start.noise_level / unit.sum()
        return np.append(np.log(unit), _root(ratio)) if self.fixed_noise is None else np.log(unit)

    def box(self, noise_bounds: tuple[float, float]) -> Array:
        sides = np.tile(np.log(np.array(WEIGHT_BOUNDS) / len(self.grams)), (len(self.grams), 1))
        return np.vstack([sides, _root(np.array(noise_bounds))]) if self.fixed_noise is None else sides

    def run(self, place: Array, box: Array, tolerance: float) -> OptimizeResult:
        options = {"ftol": tolerance, "gtol": tolerance * STEEPNESS}
        return minimize(self._steep, place, jac=True, bounds=box, method="L-BFGS-B", options=options)

    def _steep(self, place: Array) -> tuple[float, Array]:
        """The first step of L-BFGS is as long as the gradient: per target that is next to nothing, and looks like the end."""
        value, gradient = self.cost(place)
        return STEEPNESS * value, STEEPNESS * gradient

    def cost(self, place: Array) -> tuple[float, Array]:
        """Negative evidence per target with the penalty, and its gradient for the place."""
        unit, level = self._unpack(place)
        evidence = self.evidence(place)
        by_level = level * float(evidence.d_noise @ self.balance)
        gradient = unit * evidence.d_weights / self.scales
        if self.fixed_noise is None:
            gradient = np.append(gradient + by_level * unit / unit.sum(), 2 * by_level / place[-1])
        value, gradient = -evidence.value / self.targets.size, -gradient / self.targets.size
        cost, slope = self.penalty.cost(place[: len(unit)])
        gradient[: len(unit)] += slope
        return value + cost, gradient

    def evidence(self, place: Array) -> Evidence:
        """At a place; the one where a search ends is asked for twice."""
        key = place.tobytes()
        if key not in self.seen:
            unit, level = self._unpack(place)
            self.seen[key], _ = evaluate(
                self.grams,
                unit / self.scales,
                self.targets,
                level * self.balance,
                free_mean=self.free_mean,
                any_scale=self.any_scale,
                patterns=self.patterns,
            )
        return self.seen[key]

    def result(self, place: Array, evaluations: int) -> LearnedWeights:
        """What a place stands for, at the scale that the evidence likes best where the scale is free."""
        unit, level = self._unpack(place)
        evidence = self.evidence(place)
        weights = evidence.scale * unit / self.scales
        return LearnedWeights(weights, level * evidence.scale, evidence.value, evaluations)

    def _unpack(self, place: Array) -> tuple[Array, float]:
        unit = np.exp(place[: len(self.grams)])
        return unit, float(_ratio(place[-1]) * unit.sum()) if self.fixed_noise is None else self.fixed_noise


def _root(ratio: Number) -> Number:
    """Of noise to weights, stretched so that at the start a step means the same change as one in the logarithm."""
    return 2.0 * np.sqrt(ratio / START_NOISE)


def _ratio(root: Number) -> Number:
    """What `_root` was the root of."""
    return START_NOISE * (root / 2.0) ** 2


def _starts(first: Array, box: Array, n_starts: int, random_state: int | None) -> Array:
    """Where the searches begin (n_starts, d): the first place given, the others around it."""
    starts = np.random.default_rng(random_state).normal(first, SPREAD_OF_STARTS, (n_starts, len(first)))
    starts[0] = first
    return np.clip(starts, box[:, 0], box[:, 1])


def _check_bounds(owner: str, bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = (float(bound) for bound in bounds)
    if not 0 < low < high < np.inf:
        raise InvalidInput(f"{owner}: noise_bounds must be two finite numbers, 0 < low < high, got {shown(bounds)}.")
    return low, high
