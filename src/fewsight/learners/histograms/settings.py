"""What is learned beside the dual weights: transform, noise, balance and relevance, all by the evidence of the training
examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.optimize import minimize_scalar

from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.gp import learn_relevance, likelihood_bound, minimise, noise_curve
from fewsight.kernels import HistogramOperator
from fewsight.learners.histograms.posterior import targets_of_columns

MOST_COLUMNS = 16  # problems that the evidence is summed over; of more, so many spread over all
STEPS = 40  # of Lanczos; enough for levels above LOW
LOW, STEPS_IF_LOW = 0.1, 160
POWERS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
RATES = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0)  # of the exponential, per mean non-zero value
START_LEVEL = 1.0


@final
@dataclass(frozen=True)
class Settings:
    """What is given; None is what is to be learned."""

    transform: str
    parameter: float | None
    relevance: str  # "none", "evidence", "channels" or "given"
    weights: Array | None
    level: float | None  # of the noise, over a kernel whose mean diagonal is 1
    balanced: bool | None
    per_class: bool  # whether each class has a level of its own
    criterion: str  # "evidence" or "bound"
    relevance_steps: int
    random_state: int


@final
@dataclass(frozen=True, eq=False)
class Found:
    """The kernel, of mean diagonal 1, and the noise of each example (n, 1), or of each example and class (n, columns)."""

    operator: HistogramOperator
    parameter: float | None
    noise: Array
    levels: Array  # (1,) or (columns,)
    balanced: bool
    log_evidence: float | None


def find(operator: HistogramOperator, classes: Indices, n_classes: int, groups: Indices, settings: Settings) -> Found:
    """Everything that is not given, learned from the training examples."""
    targets = targets_of_columns(classes, n_classes)
    some = targets[:, spread(targets.shape[1], MOST_COLUMNS)]
    if settings.weights is not None:
        operator = operator.with_weights(settings.weights)
    operator, parameter = _transformed(operator, some, settings)
    operator = unit(operator)
    level, evidence, balanced = _level(operator, some, settings)
    if settings.relevance in ("evidence", "channels"):
        operator, level, evidence = _relevant(operator, some, level, groups, settings)
    levels = np.array([level])
    if settings.per_class and settings.level is None:
        levels = _levels_of_classes(operator, targets, balanced, settings)
    noise = levels * (balance_of(targets) if balanced else np.ones((len(targets), 1)))
    return Found(operator, parameter, noise, levels, balanced, evidence)


def _levels_of_classes(operator: HistogramOperator, targets: Array, balanced: bool, settings: Settings) -> Array:
    """The best level of each problem by itself."""
    options: dict[str, Any] = {"steps": STEPS, "random_state": settings.random_state}
    if not balanced:
        curve = noise_curve(operator, targets, **options)
        return np.array([curve.best(column)[0] for column in range(targets.shape[1])])
    pairs = zip(targets.T, balance_of(targets).T, strict=True)
    return np.array([noise_curve(operator, y[:, None], balance=b, **options).best()[0] for y, b in pairs])


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


def _transformed(operator: HistogramOperator, targets: Array, settings: Settings) -> tuple[HistogramOperator, Any]:
    """The operator with its transform, whose parameter is learned unless it is given."""
    if settings.transform == "none":
        return operator, None
    if settings.parameter is not None:
        return operator.with_transform(settings.transform, settings.parameter), settings.parameter

    def cost(parameter: float) -> float:
        changed = unit(operator.with_transform(settings.transform, parameter))
        return -_level(changed, targets, settings)[1]

    best = _bound_parameter if settings.criterion == "bound" else _least
    parameter = best(cost, candidates(operator, settings.transform))
    return operator.with_transform(settings.transform, parameter), parameter


def candidates(operator: HistogramOperator, transform: str) -> Array:
    """Parameters to look at, in ascending order; the plain kernel is among them."""
    if transform == "power":
        return np.array(POWERS)
    values = operator.histograms.values
    return np.array(RATES) / (float(values.mean()) if len(values) else 1.0)


def _least(cost: Callable[[float], float], grid: Array) -> float:
    """The parameter that costs least: the best of a grid, refined between its neighbours."""
    costs = [cost(float(parameter)) for parameter in track(grid, "transform", len(grid))]
    at = int(np.argmin(costs))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    options = {"xatol": 0.02 * (around[1] - around[0]), "maxiter": 8}
    refined = minimize_scalar(cost, bounds=around, method="bounded", options=options)
    return float(refined.x) if refined.fun < costs[at] else float(grid[at])


def _bound_parameter(cost: Callable[[float], float], grid: Array) -> float:
    """As in the paper, by Nelder and Mead's method from the plain kernel on; a rate of the exponential is > 0 there."""
    positive = grid[grid > 0]
    start = 1.0 if 1.0 in positive else float(positive[0])
    return float(minimise(lambda at: cost(float(at[0])), np.array([start]), max_evaluations=30).parameters[0])


def _level(operator: HistogramOperator, targets: Array, settings: Settings) -> tuple[float, float, bool]:
    """The noise level, its evidence (or minus its bound) and whether it is balanced."""
    choices = [False, True] if settings.balanced is None else [settings.balanced]
    found = []
    for balanced in choices:
        score = _bound_of if settings.criterion == "bound" else _evidence_of
        level, value = score(operator, targets, balanced, settings)
        found.append((level, value, balanced))
    return max(found, key=lambda triple: triple[1])


def _evidence_of(
    operator: HistogramOperator, targets: Array, balanced: bool, settings: Settings
) -> tuple[float, float]:
    curves = _curves(operator, targets, balanced, STEPS, settings)
    level, value = _best_of(curves, settings.level)
    if level < LOW:
        curves = _curves(operator, targets, balanced, STEPS_IF_LOW, settings)
        level, value = _best_of(curves, settings.level)
    return level, value


def _curves(operator: HistogramOperator, targets: Array, balanced: bool, steps: int, settings: Settings) -> list[Any]:
    """One for all problems, or one for each where their noise differs."""
    options: dict[str, Any] = {"steps": steps, "random_state": settings.random_state}
    if not balanced:
        return [noise_curve(operator, targets, **options)]
    factors = balance_of(targets)
    columns = spread(targets.shape[1], MOST_COLUMNS // 2)
    return [noise_curve(operator, targets[:, [c]], balance=factors[:, c], **options) for c in columns]


def _best_of(curves: list[Any], level: float | None) -> tuple[float, float]:
    if level is not None:
        return level, sum(curve.joint_log_evidence(level) for curve in curves)
    if len(curves) == 1:
        return curves[0].best()
    logs = np.linspace(np.log(1e-3), np.log(1e3), 57)
    values = [sum(curve.joint_log_evidence(float(np.exp(log))) for curve in curves) for log in logs]
    return float(np.exp(logs[int(np.argmax(values))])), max(values)


def _bound_of(operator: HistogramOperator, targets: Array, balanced: bool, settings: Settings) -> tuple[float, float]:
    """The level that minimises the upper bound of the negative log likelihood at its best scale."""

    def value(level: float) -> float:
        noise = level * balance_of(targets) if balanced else level
        return likelihood_bound(operator, targets, noise, free_mean=True, any_scale=True, tolerance=1e-3).value

    if settings.level is not None:
        return settings.level, -value(settings.level)
    best = minimise(lambda at: value(float(at[0])), np.array([START_LEVEL]), tolerance=0.05, max_evaluations=25)
    return float(best.parameters[0]), -best.value


def _relevant(
    operator: HistogramOperator, targets: Array, level: float, groups: Indices, settings: Settings
) -> tuple[HistogramOperator, float, float]:
    """The operator with learned weights, of mean diagonal 1, and the level and evidence that go with it."""
    learned = learn_relevance(
        operator,
        targets,
        level,
        groups=groups if settings.relevance == "channels" else None,
        steps=settings.relevance_steps,
        random_state=settings.random_state,
    )
    weighted = unit(operator.with_weights(learned.weights))
    level, evidence, _ = _level(weighted, targets, settings)
    return weighted, level, evidence
