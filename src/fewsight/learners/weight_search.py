"""How several Gram matrices become one: weights and noise by penalised evidence, its settings chosen on left-out examples.

Candidates are the plain average and what the evidence finds under penalties from strong to weak, with the mean of the targets
free (better with few examples) and zero (sometimes better with many). Each predicts every training example from those outside
its fold (see `folds`), in closed form; the candidate under which the left-out examples are most probable is kept. Where no
example can be left out (one per class) nothing is learned about the weights: those known beforehand stay, which are the average
unless something else is said; they are one more candidate everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fewsight._base.checks import check_choice, check_flag, check_integer, check_number, check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices, State
from fewsight.gp import PENALTIES, LearnedWeights, Penalty, Posterior, learn_weights_and_noise, mean_of, weighted_sum
from fewsight.learners.folds import left_out_folds
from fewsight.learners.labels import class_numbers
from fewsight.learners.sharpness import USUAL_NOISE, calibrate

SCOPES = ("global", "classwise")
# From strong to weak: above the first the result is nearly the average (even) or the penalty alone decides (l1, l2).
STRENGTHS = {"even": (1e-3, 1e-4, 1e-5), "l1": (30.0, 3.0, 0.3, 0.03), "l2": (100.0, 10.0, 1.0, 0.1)}
NOISE_BOUNDS = (1e-3, 1e2)  # relative; less changes no decision, and costs the search many steps
NOISES = (0.02, 0.06, 0.2, 0.6)  # relative, to choose from by left-out examples
NATS = (
    1.0  # by which left-out examples must speak for ten times the usual noise, or a tenth; more for more, by the square
)
TOLERANCE = 1e-5  # of a search; closer to the maximum no decision changes
SAME_NOISE = np.log(3)  # factors of noise below 3 change few decisions


@dataclass(frozen=True)
class SearchSettings:
    """How to combine; the parameters of `KernelCombination`, checked."""

    penalty: str = "even"
    strength: float | str = "auto"
    scope: str = "global"
    free_mean: bool | str = "auto"
    noise_variance: float | str = "left-out"
    n_starts: int = 1
    random_state: int = 0
    prior: tuple[float, ...] | None = None  # weights that add up to 1, known beforehand; None: the average

    def __post_init__(self) -> None:
        who = "KernelCombination"
        check_choice(who, "penalty", self.penalty, PENALTIES)
        check_choice(who, "scope", self.scope, SCOPES)
        check_integer(who, "n_starts", self.n_starts, least=1)
        check_integer(who, "random_state", self.random_state, least=0)
        if isinstance(self.free_mean, str):
            check_choice(who, "free_mean", self.free_mean, ["auto"])
        else:
            check_flag(who, "free_mean", self.free_mean)
        if isinstance(self.strength, str):
            check_choice(who, "strength", self.strength, ["auto"])
        else:
            check_number(who, "strength", self.strength, least=0, most=1e12)
        if isinstance(self.noise_variance, str):
            check_choice(who, "noise_variance", self.noise_variance, ["left-out", "evidence"])
        else:
            check_positive(who, "noise_variance", self.noise_variance)

    @property
    def fixed_noise(self) -> float | None:
        return None if isinstance(self.noise_variance, str) else float(self.noise_variance)

    def n_problems(self, targets: Array) -> int:
        """How many problems have weights of their own."""
        return targets.shape[1] if self.scope == "classwise" else 1

    @property
    def has_choice(self) -> bool:
        """Whether several candidates have to be compared."""
        return sum(len(penalties) for _, penalties in self.routes()) > 1

    def routes(self) -> list[tuple[bool, list[Penalty]]]:
        """What to try: whether the mean is free, and with it penalties from strong to weak."""
        penalties = self._penalties()
        if not isinstance(self.free_mean, str):
            return [(bool(self.free_mean), penalties)]
        return [(True, penalties), (False, penalties[-1:])]

    def _penalties(self) -> list[Penalty]:
        if self.penalty == "none":
            return [Penalty()]
        strengths = STRENGTHS[self.penalty] if isinstance(self.strength, str) else (float(self.strength),)
        return [Penalty(self.penalty, strength) for strength in strengths]


@dataclass(frozen=True)
class Combination:
    """Weights (g, k) and noise (g,) of g problems that share them: all classes, or each class by itself."""

    weights: Array
    noise: Array
    penalty: Penalty | None = None  # None: weights that were not learned
    evidence_noise: Array | None = None  # (g,), what the evidence found, to begin the next search with
    evaluations: int = 0  # of evidence and gradient, over all problems

    def posteriors(self, grams: Sequence[Array], targets: Array) -> Iterator[Posterior]:
        """The posterior of each problem."""
        for weights, noise, columns in zip(self.weights, self.noise, _columns(len(self.weights)), strict=True):
            K = weighted_sum(grams, weights)
            yield Posterior.condition(K, targets[:, columns], noise)

    def under_usual_noise(self) -> Combination:
        """The same weights with the usual noise."""
        return replace(self, noise=USUAL_NOISE * self.weights.sum(axis=1))

    def state(self) -> State:
        """For the model file."""
        penalty = None if self.penalty is None else {"kind": self.penalty.kind, "strength": self.penalty.strength}
        searched = {} if self.evidence_noise is None else {"evidence_noise": self.evidence_noise}
        header = {"penalty": penalty, "evaluations": self.evaluations}
        return State(header, {"weights": self.weights, "noise": self.noise, **searched})

    @classmethod
    def from_state(cls, state: State, n_problems: int, n_kernels: int) -> Combination:
        """For this many problems and kernels; all is checked, as a file may have been edited."""
        weights = state.array("weights", (n_problems, n_kernels), np.float64, least=0.0)
        noise, evidence_noise = (
            state.array(name, (n_problems,), np.float64, above=0.0) if name in state else None
            for name in ("noise", "evidence_noise")
        )
        if noise is None:
            raise InvalidInput("the stored combination: noise is missing.")
        penalty = None if state.header["penalty"] is None else Penalty(**state.header["penalty"])
        return cls(weights, noise, penalty, evidence_noise, state.integer("evaluations", most=2**53))

    def place(self, number: int) -> LearnedWeights | None:
        """Where a search for one of the problems may begin; None without an earlier search."""
        if self.evidence_noise is None:
            return None
        return LearnedWeights(self.weights[number], float(self.evidence_noise[number]), 0.0, 0)


def _columns(n_problems: int) -> list[slice]:
    """Which columns of the targets each problem is about: all, or each its own."""
    return [slice(None)] if n_problems == 1 else [slice(column, column + 1) for column in range(n_problems)]


def combine(
    grams: Sequence[Array],
    targets: Array,
    settings: SearchSettings,
    start: Combination | None = None,
    pictures: Indices | None = None,
    *,
    balanced: bool = False,
) -> Combination:
    """The combination of Gram matrices with a mean diagonal of 1 that predicts left-out examples best.

    `pictures` (n,) numbers the picture of each example, where examples are images; those of one are left out together.
    `balanced`: targets are those of `fewsight.learners.balance`, and left-out classes count alike.
    """
    n_problems, average = settings.n_problems(targets), (1.0 / len(grams),) * len(grams)
    given = dict.fromkeys((settings.prior or average, average))  # the first where nothing can be learned
    known = [_fixed(n_problems, weights, settings) for weights in given]
    if targets.shape[1] < 2:
        return known[0]
    problem = _Problem(grams, targets, pictures, balanced=balanced)
    if settings.has_choice and not len(problem.left_out[1]):
        return known[0]
    found = _best(problem, settings, known, start)
    return problem.with_best_noise(found) if settings.noise_variance == "left-out" else found


def _best(
    problem: _Problem, settings: SearchSettings, known: Sequence[Combination], start: Combination | None
) -> Combination:
    """The best of all candidates; where all is given there is but one."""
    routes = settings.routes()
    if not settings.has_choice:
        free_mean, penalties = routes[0]
        return _learned(problem, settings, penalties[0], start, free_mean=free_mean)
    surprises = [_surprise(problem, settings, candidate) for candidate in known]
    best, least = known[int(np.argmin(surprises))], min(surprises)
    evaluations = 0
    for free_mean, penalties in routes:
        last = np.inf
        for penalty in penalties:
            start = _learned(problem, settings, penalty, start, free_mean=free_mean)
            evaluations += start.evaluations
            surprise = _surprise(problem, settings, start)
            if surprise < least:
                best, least = start, surprise
            if surprise > last:
                break  # weaker penalties make it worse
            last = surprise
    return replace(best, evaluations=evaluations)


def _surprise(problem: _Problem, settings: SearchSettings, candidate: Combination) -> float:
    """At left-out examples, with the noise that is given or learned, or the better of the usual one and the evidence's."""
    if settings.noise_variance != "left-out":
        return problem.surprise(candidate)
    return problem.surprise(problem.with_best_noise(candidate, (USUAL_NOISE,)))


def _learned(
    problem: _Problem, settings: SearchSettings, penalty: Penalty, start: Combination | None, *, free_mean: bool
) -> Combination:
    """What the evidence finds under a penalty, problem by problem."""
    columns = _columns(settings.n_problems(problem.targets))
    numbered: Iterable[tuple[int, slice]] = enumerate(columns)
    if len(columns) > 1:
        numbered = track(numbered, f"kernel weights, penalty {penalty.strength:g}", len(columns))
    found = [
        learn_weights_and_noise(
            problem.grams,
            problem.targets[:, column],
            penalty=penalty,
            free_mean=free_mean,
            noise_level=settings.fixed_noise,
            noise_bounds=NOISE_BOUNDS,
            start=None if start is None else start.place(number),
            n_starts=settings.n_starts,
            tolerance=TOLERANCE,
            random_state=settings.random_state,
        )
        for number, column in numbered
    ]
    weights, noise = (np.array([getattr(one, name) for one in found]) for name in ("weights", "noise_level"))
    evaluations = sum(one.evaluations for one in found)
    if settings.fixed_noise is not None:
        return Combination(weights, noise, penalty, noise, evaluations)
    totals = weights.sum(axis=1)
    return Combination(weights / totals[:, None], noise / totals, penalty, noise / totals, evaluations)


def _fixed(n_problems: int, weights: Sequence[float], settings: SearchSettings) -> Combination:
    """Weights that are not learned, the same for each problem."""
    noise = USUAL_NOISE if settings.fixed_noise is None else settings.fixed_noise
    return Combination(np.tile(weights, (n_problems, 1)), np.full(n_problems, noise))


def noise_by_left_out(K: Array, targets: Array, pictures: Indices | None = None, *, balanced: bool = False) -> float:
    """The noise of one Gram matrix, of a few, under which left-out examples are most probable; see `with_best_noise`."""
    scale = mean_diagonal(K)
    if targets.shape[1] < 2:
        return USUAL_NOISE * scale
    plain = Combination(np.ones((1, 1)), np.array([USUAL_NOISE]))
    problem = _Problem([K / scale], targets, pictures, balanced=balanced)
    return scale * float(problem.with_best_noise(plain).noise[0])


def mean_diagonal(K: Array) -> float:
    """What noise is measured by; 1 where it is not positive: such a matrix is refused as that, and not for its noise."""
    mean = float(K.diagonal().mean())
    return mean if mean > 0 else 1.0


class _Problem:
    """Gram matrices, targets, and which examples are left out together. Where targets are `balanced`, classes count alike."""

    def __init__(self, grams: Sequence[Array], targets: Array, pictures: Indices | None, *, balanced: bool) -> None:
        self.grams, self.targets, self.pictures, self.balanced = grams, targets, pictures, balanced
        self.classes: Indices = class_numbers(targets)
        self._known: dict[tuple[bytes, bytes], float] = {}  # surprises, by weights and noise
        self._usual: tuple[bytes, list[Posterior]] | None = None  # of the last weights

    @cached_property
    def left_out(self) -> tuple[Indices, Indices]:
        """The fold of each example, and the examples that can be predicted without theirs."""
        return left_out_folds(mean_of(self.grams), self.classes, self.pictures)

    def surprise(self, combination: Combination) -> float:
        """At left-out examples after calibration, and at that calibration, in nats."""
        key = combination.weights.tobytes(), combination.noise.tobytes()
        if key not in self._known:
            usual = self._usual_posteriors(combination)
            same = np.allclose(combination.noise, combination.under_usual_noise().noise, rtol=1e-12, atol=0.0)
            posteriors = usual if same else list(combination.posteriors(self.grams, self.targets))
            self._known[key] = -calibrate(posteriors, usual, *self.left_out, balanced=self.balanced).log_posterior
        return self._known[key]

    def _usual_posteriors(self, combination: Combination) -> list[Posterior]:
        key = combination.weights.tobytes()
        if self._usual is None or self._usual[0] != key:
            usual = combination.under_usual_noise().posteriors(self.grams, self.targets)
            self._usual = key, list(usual)
        return self._usual[1]

    def with_best_noise(self, combination: Combination, noises: Sequence[float] = NOISES) -> Combination:
        """The same weights with the noise, of these and the evidence's, that is least surprised at left-out examples.

        They must speak for another noise than the usual one: with few examples, left-out ones are not many enough to tell.
        """
        same = np.ones_like(combination.noise)
        if not len(self.left_out[1]):  # no example can be left out without its class going with it
            return replace(combination, noise=USUAL_NOISE * same)
        candidates = [replace(combination, noise=noise * same) for noise in noises]
        found = combination.evidence_noise
        if found is not None and all(abs(np.log(found.mean() / noise)) > SAME_NOISE for noise in noises):
            candidates.append(replace(combination, noise=found))

        def loss(candidate: Combination) -> float:
            decades = float(np.log10(candidate.noise / USUAL_NOISE).mean())
            return self.surprise(candidate) + NATS * decades**2

        return min(candidates, key=loss)
