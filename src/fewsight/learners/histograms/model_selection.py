"""Kernel and noise of the histogram learner, chosen on its training examples.

Noise and relevance are learned by the evidence; noise, balance and the share of Hellinger's kernel by examples that are left out
(`left_out_search`), if that is asked for or one of two classes is rare. The parameter of a transform is learned from training
examples that are left out: evidence and its bound like the kernel best that explains the targets -1 and +1 as a Gaussian process
would, and that is not the one that tells categories apart best. On bags of words the log loss of left-out examples finds a kernel
that is right more often, see docs/large_scale.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from fewsight._base.checks import check_choice, check_number, check_positive, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices, Rows
from fewsight.gp import (
    LearnedRelevance,
    RoundedGram,
    learn_relevance,
    likelihood_bound,
    minimise,
    noise_curve,
    noise_curves,
    targets_of_columns,
)
from fewsight.gp.iterative_posterior import n_columns
from fewsight.gp.noise_levels import PROBES
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator
from fewsight.learners.folds import columns_to_calibrate, sampled_folds
from fewsight.learners.histograms.formed_gram import formed_gram
from fewsight.learners.histograms.left_out_search import (
    FOLDS,
    MIDDLE,
    Setting,
    evenly_spaced,
    factors_of,
    left_out_losses,
    one_is_rare,
    search,
    searched,
    thinned,
)
from fewsight.learners.sharpness import USUAL_NOISE

AUTO = "auto"
TRANSFORMS = ("none", "power", "exponential")
RELEVANCE = ("none", "evidence", "channels")
MOST_COLUMNS = 16  # at most this many one-vs-all columns enter the evidence; if there are more, evenly spaced ones
MOST_RELEVANCE_COLUMNS = 1_000  # likewise for relevance: the more problems, the better dimensions are told apart
STEPS = 40  # of Lanczos; enough for levels above LOW
LOW, STEPS_IF_LOW = 0.1, 160
POWERS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
RATES = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0)  # of the exponential, per mean non-zero value
PLAIN = {"power": 1.0, "exponential": 0.0}  # the parameter that changes nothing
SMALL = 0.03  # of the least rate > 0: nearly plain
EIGENVALUES = 64  # for the bound
START_LEVEL, BOUND_LEVELS = 1.0, (1e-3, 1e3)
REFINED = 5  # parameters that are tried between the best of a grid and its neighbours

TrainingOperator: TypeAlias = HistogramOperator | DistributedHistogramOperator


@final
@dataclass(frozen=True)
class KernelSettings:
    """What is given; None is what is to be learned."""

    transform: str
    parameter: float | None
    left_out: bool  # whether the parameter is learned from left-out examples, or by the criterion
    share: float | None  # of Hellinger's kernel
    share_by: str  # "left-out" or "auto"
    relevance: str  # "none", "evidence", "channels" or "given"
    weights: Array | None
    level: float | None  # of the noise, over a kernel whose mean diagonal is 1
    level_by: str  # "evidence", "left-out" or "auto"
    balance: float | None  # exponent of the factors by which the noise of the two sides of a problem differs
    balance_by: str  # "left-out" or "auto"
    balanced: bool
    per_class: bool  # whether each class has a level of its own
    criterion: str  # "evidence" or "bound"
    relevance_steps: int
    relevance_prior: float
    random_state: int
    may_form: bool = False  # whether K itself may be formed, in single precision, where that saves time

    def for_classes(self, classes: Indices) -> KernelSettings:
        """The same, with the usual noise in place of an "auto" one where no class has two examples: nothing repeats then, and
        the evidence would take all to be noise."""
        repeats = np.bincount(classes[classes >= 0]).max(initial=0) > 1
        learned = self.level is None and self.level_by == AUTO and self.criterion == "evidence" and not self.per_class
        return dataclasses.replace(self, level=USUAL_NOISE) if learned and not repeats else self

    def with_auto(self, ranked: bool) -> KernelSettings:
        """The same without "auto": by left-out examples where ranking is what counts, else by evidence, with intersection alone.

        Ranking counts only where the noise is "auto" as well, one for all classes, and there is no transform and no bound.
        """
        ranked = ranked and self.level is None and self.level_by == AUTO
        ranked = ranked and self.transform == "none" and self.criterion == "evidence" and not self.per_class
        share, balance = self.share, self.balance
        if share is None and self.share_by == AUTO and not ranked:
            share = 0.0
        if balance is None and self.balance_by == AUTO and (self.balanced or not ranked):
            balance = float(self.balanced)
        by = "left-out" if ranked else "evidence"
        return dataclasses.replace(
            self, share=share, balance=balance, level_by=by if self.level_by == AUTO else self.level_by
        )


def number_or_word(
    owner: object, name: str, value: float | str, words: tuple[str, ...], *, positive: bool
) -> float | None:
    """A number, or None where a word says how to learn it."""
    if isinstance(value, str):
        check_choice(owner, name, value, words)
        return None
    return check_positive(owner, name, value) if positive else check_number(owner, name, value, least=-1e6, most=1e6)


def checked_weights(owner: object, relevance: npt.ArrayLike) -> Array:
    """One number >= 0 for each dimension; how many there must be is checked where the width is known."""
    try:
        weights = np.array(relevance, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{owner_name(owner)}: relevance must be one of {', '.join(map(repr, RELEVANCE))} or numbers, "
            f"got {shown(relevance)}."
        ) from None
    if weights.ndim != 1 or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise InvalidInput(f"{owner_name(owner)}: relevance must be a list of numbers >= 0, not all zero.")
    return weights


@final
@dataclass(frozen=True, eq=False)
class Found:
    """The kernel, of mean diagonal 1, and the noise of each example (n, 1), or of each example and class (n, columns)."""

    operator: TrainingOperator
    parameter: float | None
    noise: Array
    levels: Array  # (1,) or (columns,)
    log_evidence: float | None
    balance: float = 0.0  # exponent of the factors of the noise
    relevance: LearnedRelevance | None = None  # where it was learned
    gram: RoundedGram | None = None  # the operator in single precision, where it was formed


def choose_kernel_and_noise(
    operator: TrainingOperator,
    rows: Rows,
    classes: Indices,
    n_classes: int,
    groups: Indices | None,
    settings: KernelSettings,
) -> Found:
    """Everything that is not given, learned from the training examples, whose rows are those of the operator.

    `groups` has a number for each dimension, for weights that dimensions with the same number share.
    """
    counts = np.bincount(classes[classes >= 0], minlength=n_classes)
    settings = settings.for_classes(classes).with_auto(one_is_rare(classes, n_classes))
    targets = targets_of_columns(classes, n_classes)
    some = targets[:, evenly_spaced(targets.shape[1], MOST_COLUMNS)]
    if settings.weights is not None:
        operator = operator.with_weights(settings.weights)
    parameter = settings.parameter if settings.transform != "none" else None
    if settings.transform != "none":
        if parameter is None:
            parameter = _parameter(operator, some, classes, n_classes, settings)
        operator = operator.with_transform(settings.transform, parameter)
    operator = unit(operator.with_hellinger(MIDDLE if settings.share is None else settings.share))
    learned = None
    if settings.relevance in ("evidence", "channels"):
        level, _ = _level(operator, some, settings)
        learned = _relevance(operator, targets, level, groups, settings)
        operator = unit(operator.with_weights(learned.weights))
    gram = formed_gram(operator, *cost_of_learning(counts)) if settings.may_form else None
    level, evidence = _level(operator, some, settings, gram)
    found = _found_by_left_out(operator, rows, classes, n_classes, level, settings, gram)
    operator = operator.with_hellinger(found.share)
    levels = np.array([found.level])
    if settings.per_class and settings.level is None:
        curve = noise_curve(gram or operator, targets, steps=STEPS, random_state=settings.random_state)
        levels = np.array([curve.best(column)[0] for column in range(targets.shape[1])])
    noise = levels * factors_of(targets, found.balance)
    return Found(operator, parameter, noise, levels, evidence, found.balance, learned, gram)


def cost_of_learning(counts: Indices) -> tuple[int, int]:
    """How many systems are solved where classes have these numbers of examples, and the columns that the evidence multiplies."""
    columns = 1 if len(counts) == 2 else len(counts)
    systems = 1 + columns + columns_to_calibrate(np.repeat(np.arange(len(counts)), counts), 1)
    return systems, STEPS * (min(columns, MOST_COLUMNS) + PROBES)


def _found_by_left_out(
    operator: TrainingOperator,
    rows: Rows,
    classes: Indices,
    n_classes: int,
    level: float,
    settings: KernelSettings,
    gram: RoundedGram | None,
) -> Setting:
    """What is not given, chosen by examples that are left out; `level` is given, or that of the evidence.

    Of very many examples of two classes some are enough to choose from. A rare class is kept, so that noise in the same
    proportion to the number of examples means the same.
    """
    free = {
        name
        for name, is_free in (
            ("level", settings.level is None and settings.level_by == "left-out"),
            ("share", settings.share is None),
            ("balance", settings.balance is None),
        )
        if is_free
    }
    start = Setting(operator.hellinger, MIDDLE if settings.balance is None else settings.balance, level)
    if not free:
        return start
    part = 1.0
    two = n_columns(classes, n_classes) == 1
    if "level" in free and two and searched(operator) < operator.n:
        few, classes = thinned(operator, rows, classes)
        part, operator, gram = few.n / operator.n, few, None
        start = start._replace(level=part * level)
    found = search(operator, classes, n_classes, start, free, gram)
    return found._replace(level=found.level / part)


def unit(operator: TrainingOperator) -> TrainingOperator:
    """The same with weights such that the mean diagonal is 1; a kernel that is zero stays as it is."""
    mean = operator.trace() / operator.n
    return operator.with_weights(operator.weights / mean) if mean > 0 else operator


def _parameter(
    operator: TrainingOperator, targets: Array, classes: Indices, n_classes: int, settings: KernelSettings
) -> float:
    def changed(parameter: float) -> TrainingOperator:
        return unit(operator.with_transform(settings.transform, parameter))

    def losses(parameter: float) -> Array:
        kernel = changed(parameter)
        noise = np.full((operator.n, 1), _level(kernel, targets, settings)[0])
        return left_out_losses(kernel, classes, n_classes, noise, folds)

    grid = candidates(operator, settings.transform)
    folds = sampled_folds(operator, classes, FOLDS) if settings.left_out else []
    if folds:
        return least_loss(losses, grid, PLAIN[settings.transform])
    if settings.criterion == "bound":
        return _bound_parameter(operator, targets, settings)
    return least(lambda parameter: -_level(changed(parameter), targets, settings)[1], grid)


def least_loss(losses: Callable[[float], Array], grid: Array, plain: float) -> float:
    """The parameter with the least mean loss; the plain kernel stays unless the gain is above its standard error."""
    known = cache(losses)
    best = least(lambda parameter: float(known(parameter).mean()), grid)
    gain = known(plain) - known(best)
    return best if gain.mean() > gain.std() / np.sqrt(len(gain)) else plain


def least(cost: Callable[[float], float], grid: Array) -> float:
    """The parameter that costs least: the best of a grid, refined between its neighbours."""
    costs = [cost(float(parameter)) for parameter in track(grid, "transform", len(grid))]
    at = int(np.argmin(costs))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    options = {"xatol": 0.02 * (around[1] - around[0]), "maxiter": REFINED}
    refined = minimize_scalar(lambda place: cost(float(place)), bounds=around, method="bounded", options=options)
    return float(refined.x) if refined.fun < costs[at] else float(grid[at])


def candidates(operator: TrainingOperator, transform: str) -> Array:
    """Parameters to look at, in ascending order; the plain kernel is among them."""
    if transform == "power":
        return np.array(POWERS)
    total, count = float(operator.dimension_traces().sum()), operator.n_numbers
    return np.array(RATES) * (count / total if total > 0 else 1.0)


def _bound_parameter(operator: TrainingOperator, targets: Array, settings: KernelSettings) -> float:
    """As in the paper, by Nelder and Mead's method, together with the level; a rate of the exponential is > 0 there.

    The plain kernel stays unless the bound is better: far rates end in kernels that compare nothing but the largest values.
    """
    grid = candidates(operator, settings.transform)
    start = 1.0 if settings.transform == "power" else SMALL * float(grid[grid > 0][0])

    def value(place: Array) -> float:
        changed = unit(operator.with_transform(settings.transform, float(place[0])))
        if settings.level is not None:
            return _bound_at(changed, targets, settings.level)
        return _bound_in_range(changed, targets, float(place[1]))

    best = minimise(value, np.array([start, START_LEVEL]), tolerance=0.02, max_evaluations=60)
    plain = PLAIN[settings.transform]
    without = -_bound_of(unit(operator), targets, settings)[1]
    return float(best.parameters[0]) if best.value < without else plain


def _level(
    operator: TrainingOperator, targets: Array, settings: KernelSettings, gram: RoundedGram | None = None
) -> tuple[float, float]:
    """The noise level and its evidence, or minus its bound; `gram` is the operator in single precision, where it was formed.

    Always that of noise which all examples share: balance weighs the two sides of a problem, it is no model of how targets come
    about, and a likelihood with it finds levels that rank far worse.
    """
    if settings.criterion == "bound":
        return _bound_of(operator, targets, settings)
    for curve in noise_curves(gram or operator, targets, (STEPS, STEPS_IF_LOW), random_state=settings.random_state):
        if settings.level is not None:
            return settings.level, curve.joint_log_evidence(settings.level)
        level, value = curve.best()
        if level >= LOW:
            break
    return level, value


def _bound_of(operator: TrainingOperator, targets: Array, settings: KernelSettings) -> tuple[float, float]:
    """The level that minimises the upper bound of the negative log likelihood at its best scale."""

    if settings.level is not None:
        return settings.level, -_bound_at(operator, targets, settings.level)
    best = minimise(
        lambda at: _bound_in_range(operator, targets, float(at[0])),
        np.array([START_LEVEL]),
        tolerance=0.05,
        max_evaluations=25,
    )
    return float(best.parameters[0]), -best.value


def _bound_in_range(operator: TrainingOperator, targets: Array, level: float) -> float:
    """For a search, which must not leave the levels that make sense."""
    return _bound_at(operator, targets, level) if BOUND_LEVELS[0] <= level <= BOUND_LEVELS[1] else np.inf


def _bound_at(operator: TrainingOperator, targets: Array, level: float) -> float:
    """With the tighter bound of the log-determinant and more eigenvalues than the paper's: else levels come out far too large."""
    count = max(1, min(EIGENVALUES, operator.n // 10))
    return likelihood_bound(
        operator,
        targets,
        level,
        free_mean=True,
        any_scale=True,
        n_eigenvalues=count,
        bound="tightest",
        tolerance=1e-3,
    ).value


def _relevance(
    operator: TrainingOperator, targets: Array, level: float, groups: Indices | None, settings: KernelSettings
) -> LearnedRelevance:
    """Weights of dimensions or channels, from as many problems as are quick enough."""
    return learn_relevance(
        operator,
        targets[:, evenly_spaced(targets.shape[1], MOST_RELEVANCE_COLUMNS)],
        level,
        groups=groups if settings.relevance == "channels" else None,
        prior=settings.relevance_prior,
        steps=settings.relevance_steps,
        random_state=settings.random_state,
    )
