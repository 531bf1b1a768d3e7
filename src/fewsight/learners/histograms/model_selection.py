"""Kernel and noise of the histogram learner, chosen on its training examples.

Noise, balance and relevance are learned by the evidence; the noise and the share of Hellinger's kernel, if that is asked for,
by examples that are left out. The parameter of a transform is learned from training examples that are left out: evidence and
its bound like the kernel best that explains the targets -1 and +1 as a Gaussian process would, and that is not the one that
tells categories apart best. On bags of words the log loss of left-out examples finds a kernel that is right more often, see
docs/large_scale.md.
"""

from __future__ import annotations

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
from fewsight._base.types import Array, Indices
from fewsight.gp import (
    ColumnOperator,
    LearnedRelevance,
    RoundedGram,
    SolverOptions,
    learn_relevance,
    left_out_means,
    likelihood_bound,
    minimise,
    noise_curve,
    noise_curves,
    targets_of_columns,
)
from fewsight.gp.noise_levels import PROBES
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator
from fewsight.learners.calibration import fit_calibration
from fewsight.learners.folds import columns_to_calibrate, sampled_folds
from fewsight.learners.histograms.formed_gram import formed_gram

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
LEVEL_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # of the level that evidence finds
BETWEEN = (0.5, 2.0)  # then of the best of these
SHARES = (0.0, 0.5, 1.0)  # of Hellinger's kernel; the noise is chosen at the second
FOLDS = 3  # a third is left out at a time: few trainings, and examples enough
REFINED = 5  # parameters that are tried between the best of a grid and its neighbours
SOLVED = SolverOptions(1e-2, 200, None)  # the choice does not change with more exact systems

TrainingOperator: TypeAlias = HistogramOperator | DistributedHistogramOperator


@final
@dataclass(frozen=True)
class KernelSettings:
    """What is given; None is what is to be learned."""

    transform: str
    parameter: float | None
    left_out: bool  # whether the parameter is learned from left-out examples, or by the criterion
    share: float | None  # of Hellinger's kernel
    relevance: str  # "none", "evidence", "channels" or "given"
    weights: Array | None
    level: float | None  # of the noise, over a kernel whose mean diagonal is 1
    level_left_out: bool  # whether left-out examples choose the level, near the one that evidence finds
    balanced: bool
    per_class: bool  # whether each class has a level of its own
    criterion: str  # "evidence" or "bound"
    relevance_steps: int
    relevance_prior: float
    random_state: int
    may_form: bool = False  # whether K itself may be formed, in single precision, where that saves time


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
    relevance: LearnedRelevance | None = None  # where it was learned
    gram: RoundedGram | None = None  # the operator in single precision, where it was formed


def choose_kernel_and_noise(
    operator: TrainingOperator, classes: Indices, n_classes: int, groups: Indices | None, settings: KernelSettings
) -> Found:
    """Everything that is not given, learned from the training examples.

    `groups` has a number for each dimension, for weights that dimensions with the same number share.
    """
    targets = targets_of_columns(classes, n_classes)
    some = targets[:, evenly_spaced(targets.shape[1], MOST_COLUMNS)]
    if settings.weights is not None:
        operator = operator.with_weights(settings.weights)
    parameter = settings.parameter if settings.transform != "none" else None
    if settings.transform != "none":
        if parameter is None:
            parameter = _parameter(operator, some, classes, n_classes, settings)
        operator = operator.with_transform(settings.transform, parameter)
    operator = unit(operator.with_hellinger(SHARES[1] if settings.share is None else settings.share))
    learned = None
    if settings.relevance in ("evidence", "channels"):
        level, _ = _level(operator, some, settings)
        learned = _relevance(operator, targets, level, groups, settings)
        operator = unit(operator.with_weights(learned.weights))
    counts = np.bincount(classes[classes >= 0], minlength=n_classes)
    gram = formed_gram(operator, *cost_of_learning(counts)) if settings.may_form else None
    level, evidence = _level(operator, some, settings, gram)
    if settings.level_left_out or settings.share is None:
        operator, level = _left_out(operator, classes, n_classes, level, settings, gram)
    levels = np.array([level])
    if settings.per_class and settings.level is None:
        curve = noise_curve(gram or operator, targets, steps=STEPS, random_state=settings.random_state)
        levels = np.array([curve.best(column)[0] for column in range(targets.shape[1])])
    noise = levels * (balance_of(targets) if settings.balanced else np.ones((len(targets), 1)))
    return Found(operator, parameter, noise, levels, evidence, learned, gram)


def cost_of_learning(counts: Indices) -> tuple[int, int]:
    """How many systems are solved where classes have these numbers of examples, and the columns that the evidence multiplies."""
    columns = 1 if len(counts) == 2 else len(counts)
    systems = 1 + columns + columns_to_calibrate(np.repeat(np.arange(len(counts)), counts), 1)
    return systems, STEPS * (min(columns, MOST_COLUMNS) + PROBES)


def _left_out(
    operator: TrainingOperator,
    classes: Indices,
    n_classes: int,
    level: float,
    settings: KernelSettings,
    gram: RoundedGram | None,
) -> tuple[TrainingOperator, float]:
    """The noise, of levels around that of the evidence, and then the share of Hellinger's kernel under which left-out examples
    are most probable; what is given stays, and so does all where there is nothing to leave out."""
    folds = sampled_folds(operator, classes, FOLDS)
    if not folds:
        return operator, level
    balance = balance_of(targets_of_columns(classes, n_classes)) if settings.balanced else np.ones((operator.n, 1))

    @cache
    def loss(share: float, factor: float) -> float:
        noise = factor * level * balance
        kernel = operator.with_hellinger(share) if gram is None else gram
        return float(left_out_losses(kernel, classes, n_classes, noise, folds).mean())

    share, factor = operator.hellinger, 1.0
    if settings.level_left_out:
        for factors in (LEVEL_FACTORS, BETWEEN):
            losses = {
                factor * each: loss(share, factor * each) for each in track((1.0, *factors), "noise", len(factors) + 1)
            }
            factor = min(losses, key=lambda each: losses[each])
    if settings.share is None:
        found = {each: loss(each, factor) for each in track(SHARES, "share of Hellinger's kernel", len(SHARES))}
        share = min(found, key=lambda each: found[each])
    return operator.with_hellinger(share), factor * level


def balance_of(targets: Array) -> Array:
    """Factors of the noise (n, columns): 2 * share of the examples on the same side. [Rodner2012, section 3]"""
    share = (targets > 0).mean(axis=0)
    return 2.0 * np.where(targets > 0, share, 1.0 - share)


def unit(operator: TrainingOperator) -> TrainingOperator:
    """The same with weights such that the mean diagonal is 1; a kernel that is zero stays as it is."""
    mean = operator.trace() / operator.n
    return operator.with_weights(operator.weights / mean) if mean > 0 else operator


def evenly_spaced(n: int, most: int) -> Indices:
    """All of n numbers, or `most` of them at equal distances."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


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


def left_out_losses(
    operator: ColumnOperator, classes: Indices, n_classes: int, noise: Array, folds: list[Indices]
) -> Array:
    """Minus the logarithm of the calibrated probability of the class of each left-out example."""
    means = np.concatenate([left_out_means(operator, classes, n_classes, noise, fold, SOLVED) for fold in folds])
    truth = classes[np.concatenate(folds)]
    known = classes[classes >= 0]
    calibration = fit_calibration(means, truth, np.bincount(known, minlength=n_classes) / len(known))
    stated = calibration.probabilities(means)[np.arange(len(truth)), truth]
    return -np.log(np.maximum(stated, 1e-300))


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
