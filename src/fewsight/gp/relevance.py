"""One weight for each dimension and the noise, by maximising the evidence: a thousand at a time. [Rodner2012, eq. 8 and
section 7]

With the slopes of `fewsight.gp.relevance_slopes`, for all dimensions at once and likewise for the noise,

    w_d <- the w that maximises -1/2 (explained_d w_d^2 / w + expected_d w)  =  w_d sqrt(explained_d / expected_d)

never makes the evidence worse: a minorise-maximise step for variance components [Zhou2019]. It needs no step length and keeps
weights positive. But a thousand weights fit the targets of the training examples alone: the evidence grows while new examples
are ranked worse and worse. Two things keep them from it.

The *prior* counts as `prior` further problems for each that there is, in which every dimension explains just what the weights at
the start expect of it: its logarithm is -prior * n_d cosh(log(w_d / start_d)) for the degrees of freedom n_d = c w_d tr(P K_d) at
the start, which enters the same step. It grows with the number c of problems because these share their examples: a hundred
classes of 15 images can be fitted by words of single images as one class can.

*Pairs* of different examples alone speak for a dimension: see `relevance_slopes` for what an example says about itself. This is
no longer the slope of the evidence (but of one in which each example may have a noise of its own), and may lower it a little.

Where each of many dimensions is a small part of K, the step is far too careful: the bound that it climbs is bent as if a
dimension were all of K. With pairs, the bend is divided by a *boldness*, which doubles while the slope still points the way that
the last step went.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_matrix, check_number, check_positive
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.gp.linear_systems import norms
from fewsight.gp.relevance_slopes import LEAST_SHARE, WHO, Slopes, WeightedOperator, evidence_slopes

LEAST_WEIGHT = 1e-8  # of the largest
LEAST_LEVEL = 1e-3  # of the mean diagonal: with less noise, systems take ever longer to solve
PRIOR = 2.0
STEPS = 6
LONGEST_STEP = 1.0  # of a logarithm
MOST_BOLD = 64.0
SMALL_STEP = 1e-3  # of a logarithm: no dimension moves further, so that no further step is worth its time
TINY = 1e-300


@final
@dataclass(frozen=True, eq=False)
class LearnedRelevance:
    """Weights (d,) and the noise level, at the scale that the evidence likes best for targets of mean square 1."""

    weights: Array
    noise_level: float
    steps: int
    products: int  # with K, all columns together


def learn_relevance(
    operator: WeightedOperator,
    targets: Array,
    level: float,
    *,
    groups: Indices | None = None,
    balance: Array | None = None,
    prior: float = PRIOR,
    pairs: bool = True,
    steps: int = STEPS,
    probes: int | None = None,
    tolerance: float = 1e-2,
    random_state: int = 0,
) -> LearnedRelevance:
    """Weights and noise level that maximise the evidence, from those of the operator and `level` on.

    Columns of targets count alike, however many examples a class has.

    Parameters
    ----------
    groups : a number for each dimension; dimensions with the same one share their weight. None: each has its own.
    balance : factors of the noise of each example.
    prior : how many further problems the weights at the start count as, for each that there is; 0 for none.
    pairs : whether pairs of different examples alone speak for a dimension; if not, no step lowers the evidence, or with a
        prior the sum of both.
    steps : of the minorise-maximise iteration, at most.
    probes : random signs for the traces; None for 16 to 128, a quarter of the columns, or for exact traces up to 500 examples.
    """
    steps = check_integer(WHO, "steps", steps, least=1)
    prior = check_number(WHO, "prior", prior, least=0, most=1e12)
    level = check_positive(WHO, "level", level)
    targets = _alike(check_matrix(WHO, "targets", targets, shape=(operator.n, None)))
    traces, weights, taken, products = operator.dimension_traces(), np.array(operator.weights), 0, 0
    climb: _Climb | None = None
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
        taken, products, start = taken + 1, products + slopes.products, slopes.solution
        climb = climb or _Climb.begun(weights, slopes, traces, groups, prior)
        weights = climb.step(weights, slopes, pairs=pairs)
        level *= float(np.sqrt(max(slopes.noise_explained * slopes.scale, TINY) / max(slopes.noise_expected, TINY)))
        level = max(level, LEAST_LEVEL * float(weights @ traces) / operator.n)
        if np.abs(climb.moves).max(initial=0.0) < SMALL_STEP:
            break
    return LearnedRelevance(weights, level, taken, products)


def _alike(targets: Array) -> Array:
    """Columns without their mean and of mean square 1; a constant one is zero."""
    centred = targets - targets.mean(axis=0)
    lengths = norms(centred) / np.sqrt(max(len(targets), 1))
    return centred / np.where(lengths > 0, lengths, 1.0)


@final
@dataclass(eq=False)
class _Climb:
    """Where weights began, what holds them there, and how they move."""

    begun_at: Array  # (d,) weights
    numbers: Indices  # (d,) the group of each dimension
    known: npt.NDArray[np.bool_]  # (groups,) whether any example has it
    held: Array  # (groups,) degrees of freedom by which the prior holds it
    moves: Array  # (groups,) of the logarithms in the last step
    boldness: float = 1.0

    @classmethod
    def begun(cls, weights: Array, slopes: Slopes, traces: Array, groups: Indices | None, prior: float) -> _Climb:
        """At the weights of the first slopes."""
        numbers = np.arange(len(weights)) if groups is None else groups
        count = int(numbers.max(initial=-1)) + 1
        held, seen = (_by_group(part, numbers, count) for part in (prior * weights * slopes.expected, traces))
        return cls(np.maximum(weights, TINY), numbers, seen > 0, held, np.zeros(count))

    def step(self, weights: Array, slopes: Slopes, *, pairs: bool) -> Array:
        """The next weights at the best scale; those of dimensions that no example has stay."""
        rising = self._sums(weights * slopes.expected)
        falling = np.maximum(self._sums(weights * slopes.falling(pairs=pairs)), LEAST_SHARE * rising)
        factors = np.exp(self._means(np.log(np.maximum(weights, TINY) / self.begun_at)))
        factors /= self._usual(factors)
        held_up, held_down = self.held / factors, self.held * factors
        if pairs:
            onward = float((falling - rising + held_up - held_down) @ self.moves)
            self.boldness = min(2.0 * self.boldness, MOST_BOLD) if onward >= 0 else max(1.0, 0.25 * self.boldness)
        slope, bend = falling - rising, (falling + rising) / self.boldness
        up = np.maximum(0.5 * (bend + slope), LEAST_SHARE * bend) + held_up
        down = np.maximum(0.5 * (bend - slope), LEAST_SHARE * bend) + held_down
        moves = 0.5 * np.log(np.maximum(up, TINY) / np.maximum(down, TINY))
        self.moves = np.where(self.known, np.clip(moves, -LONGEST_STEP, LONGEST_STEP), 0.0)
        known = self.known[self.numbers]
        changed = np.where(known, weights * slopes.scale * np.exp(self.moves[self.numbers]), weights)
        return np.maximum(changed, LEAST_WEIGHT * float(changed[known].max(initial=0.0)))

    def _usual(self, factors: Array) -> float:
        """The factor around which the prior is most probable: m minimises the sum of held (m / factor + factor / m)."""
        if not self.held.any():
            return 1.0
        return float(np.sqrt((self.held @ factors) / (self.held @ (1.0 / factors))))

    def _sums(self, values: Array) -> Array:
        return _by_group(values, self.numbers, len(self.known))

    def _means(self, values: Array) -> Array:
        return self._sums(values) / np.maximum(np.bincount(self.numbers, minlength=len(self.known)), 1)


def _by_group(values: Array, numbers: Indices, count: int) -> Array:
    """The sum of the values of each group."""
    return np.asarray(np.bincount(numbers, values, count), dtype=np.float64)
