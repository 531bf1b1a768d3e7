"""What is learned beside the dual weights: noise, balance and relevance by the evidence of the training examples, a transform by
training examples that are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp import LearnedRelevance, learn_relevance, likelihood_bound, minimise, noise_curve, targets_of_columns
from fewsight.kernels import HistogramOperator
from fewsight.learners.histograms.choosing import FOLDS, least, least_loss, left_out_losses
from fewsight.learners.histograms.folds import left_out_folds

MOST_COLUMNS = 16  # problems that the evidence is summed over; of more, so many spread over all
MOST_RELEVANCE_COLUMNS = 1_000  # likewise for relevance: the more problems, the better dimensions are told apart
STEPS = 40  # of Lanczos; enough for levels above LOW
LOW, STEPS_IF_LOW = 0.1, 160
POWERS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
RATES = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0)  # of the exponential, per mean non-zero value
PLAIN = {"power": 1.0, "exponential": 0.0}  # the parameter that changes nothing
SMALL = 0.03  # of the least rate > 0: nearly plain
EIGENVALUES = 64  # for the bound
START_LEVEL, BOUND_LEVELS = 1.0, (1e-3, 1e3)


@final
@dataclass(frozen=True)
class Settings:
    """What is given; None is what is to be learned."""

    transform: str
    parameter: float | None
    left_out: bool  # whether the parameter is learned from left-out examples, or by the criterion
    relevance: str  # "none", "evidence", "channels" or "given"
    weights: Array | None
    level: float | None  # of the noise, over a kernel whose mean diagonal is 1
    balanced: bool
    per_class: bool  # whether each class has a level of its own
    criterion: str  # "evidence" or "bound"
    relevance_steps: int
    relevance_prior: float
    random_state: int


@final
@dataclass(frozen=True, eq=False)
class Found:
    """The kernel, of mean diagonal 1, and the noise of each example (n, 1), or of each example and class (n, columns)."""

    operator: HistogramOperator
    parameter: float | None
    noise: Array
    levels: Array  # (1,) or (columns,)
    log_evidence: float | None
    relevance: LearnedRelevance | None = None  # where it was learned


def find(operator: HistogramOperator, classes: Indices, n_classes: int, groups: Indices, settings: Settings) -> Found:
    """Everything that is not given, learned from the training examples."""
    targets = targets_of_columns(classes, n_classes)
    some = targets[:, spread(targets.shape[1], MOST_COLUMNS)]
    if settings.weights is not None:
        operator = operator.with_weights(settings.weights)
    operator, parameter = _transformed(operator, some, classes, n_classes, settings)
    operator = unit(operator)
    level, evidence = _level(operator, some, settings)
    learned = None
    if settings.relevance in ("evidence", "channels"):
        learned = _relevance(operator, targets, level, groups, settings)
        operator = unit(operator.with_weights(learned.weights))
        level, evidence = _level(operator, some, settings)
    levels = np.array([level])
    if settings.per_class and settings.level is None:
        curve = noise_curve(operator, targets, steps=STEPS, random_state=settings.random_state)
        levels = np.array([curve.best(column)[0] for column in range(targets.shape[1])])
    noise = levels * (balance_of(targets) if settings.balanced else np.ones((len(targets), 1)))
    return Found(operator, parameter, noise, levels, evidence, learned)


def balance_of(targets: Array) -> Array:
    """Factors of the noise (n, columns): 2 * share of the examples on the same side. [Rodner2012, section 3]"""
    share = (targets > 0).mean(axis=0)
    return 2.0 * np.where(targets > 0, share, 1.0 - share)


def unit(operator: HistogramOperator) -> HistogramOperator:
    """The same with weights such that the mean diagonal is 1; a kernel that is zero stays as it is."""
    mean = operator.trace() / operator.n
    return operator.with_weights(operator.weights / mean) if mean > 0 else operator


def spread(n: int, most: int) -> Indices:
    """All of n numbers, or `most` of them at equal distances."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)


def _transformed(
    operator: HistogramOperator, targets: Array, classes: Indices, n_classes: int, settings: Settings
) -> tuple[HistogramOperator, float | None]:
    """The operator with its transform, whose parameter is learned unless it is given."""
    if settings.transform == "none":
        return operator, None
    parameter = settings.parameter
    if parameter is None:
        parameter = _parameter(operator, targets, classes, n_classes, settings)
    return operator.with_transform(settings.transform, parameter), parameter


def _parameter(
    operator: HistogramOperator, targets: Array, classes: Indices, n_classes: int, settings: Settings
) -> float:
    def changed(parameter: float) -> HistogramOperator:
        return unit(operator.with_transform(settings.transform, parameter))

    def losses(parameter: float) -> Array:
        kernel = changed(parameter)
        noise = np.full((operator.n, 1), _level(kernel, targets, settings)[0])
        return left_out_losses(kernel, classes, n_classes, noise, folds)

    grid = candidates(operator, settings.transform)
    folds = left_out_folds(operator, classes, FOLDS) if settings.left_out else []
    if folds:
        return least_loss(losses, grid, PLAIN[settings.transform])
    if settings.criterion == "bound":
        return _bound_parameter(operator, targets, settings)
    return least(lambda parameter: -_level(changed(parameter), targets, settings)[1], grid)


def candidates(operator: HistogramOperator, transform: str) -> Array:
    """Parameters to look at, in ascending order; the plain kernel is among them."""
    if transform == "power":
        return np.array(POWERS)
    total, count = float(operator.dimension_traces().sum()), operator.n_numbers
    return np.array(RATES) * (count / total if total > 0 else 1.0)


def _bound_parameter(operator: HistogramOperator, targets: Array, settings: Settings) -> float:
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


def _level(operator: HistogramOperator, targets: Array, settings: Settings) -> tuple[float, float]:
    """The noise level and its evidence, or minus its bound.

    Always that of noise which all examples share: balance weighs the two sides of a problem, it is no model of how targets come
    about, and a likelihood with it finds levels that rank far worse.
    """
    score = _bound_of if settings.criterion == "bound" else _evidence_of
    return score(operator, targets, settings)


def _evidence_of(operator: HistogramOperator, targets: Array, settings: Settings) -> tuple[float, float]:
    for steps in (STEPS, STEPS_IF_LOW):
        curve = noise_curve(operator, targets, steps=steps, random_state=settings.random_state)
        if settings.level is not None:
            return settings.level, curve.joint_log_evidence(settings.level)
        level, value = curve.best()
        if level >= LOW:
            break
    return level, value


def _bound_of(operator: HistogramOperator, targets: Array, settings: Settings) -> tuple[float, float]:
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


def _bound_in_range(operator: HistogramOperator, targets: Array, level: float) -> float:
    """For a search, which must not leave the levels that make sense."""
    return _bound_at(operator, targets, level) if BOUND_LEVELS[0] <= level <= BOUND_LEVELS[1] else np.inf


def _bound_at(operator: HistogramOperator, targets: Array, level: float) -> float:
    """With the tighter bound of the log-determinant and more eigenvalues than the paper's: else levels come out far too large."""
    count = max(1, min(EIGENVALUES, operator.n // 10))
    options: dict[str, Any] = {"free_mean": True, "any_scale": True, "tolerance": 1e-3}
    return likelihood_bound(operator, targets, level, bound="tightest", n_eigenvalues=count, **options).value


def _relevance(
    operator: HistogramOperator, targets: Array, level: float, groups: Indices, settings: Settings
) -> LearnedRelevance:
    """Weights of dimensions or channels, from as many problems as are quick enough."""
    return learn_relevance(
        operator,
        targets[:, spread(targets.shape[1], MOST_RELEVANCE_COLUMNS)],
        level,
        groups=groups if settings.relevance == "channels" else None,
        prior=settings.relevance_prior,
        steps=settings.relevance_steps,
        random_state=settings.random_state,
    )
