"""The options of the learner, checked once at the door."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.checks import check_choice, check_integer, check_number, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp import SolverOptions
from fewsight.gp.preconditioning import AUTO
from fewsight.learners.histograms.settings import Settings
from fewsight.learners.novelty import RULES

TRANSFORMS = ("none", "power", "exponential")
RELEVANCE = ("none", "evidence", "channels")
RULES_WITHOUT_DISTANCE = tuple(rule for rule, parts in RULES.items() if "distance" not in parts)


def options_of(learner: Any) -> SolverOptions:
    """How exactly to solve and to predict; also checks what is needed later only."""
    bins = learner.quantization_bins
    check_choice(learner, "variance", learner.variance, ("fast", "exact"))
    check_choice(learner, "unknown_rule", learner.unknown_rule, RULES_WITHOUT_DISTANCE)
    rate = check_number(learner, "false_alarm_rate", learner.false_alarm_rate, least=0, most=1)
    if rate in (0, 1):
        raise InvalidInput(f"{_who(learner)}: false_alarm_rate must be a number between 0 and 1, got {rate:g}.")
    return SolverOptions(
        check_positive(learner, "tolerance", learner.tolerance),
        check_integer(learner, "max_iterations", learner.max_iterations, least=1),
        None if bins is None else check_integer(learner, "quantization_bins", bins, least=1, most=100_000),
        _rank(learner),
    )


def settings_of(learner: Any) -> Settings:
    """What is given and what is to be learned."""
    transform = check_choice(learner, "feature_transform", learner.feature_transform, TRANSFORMS)
    weights = None if isinstance(learner.relevance, str) else _weights(learner)
    relevance = "given" if weights is not None else check_choice(learner, "relevance", learner.relevance, RELEVANCE)
    return Settings(
        transform,
        _number_or_word(learner, "transform_parameter", ("left-out", "evidence"), positive=transform == "power"),
        isinstance(learner.transform_parameter, str) and learner.transform_parameter == "left-out",
        relevance,
        weights,
        _number_or_word(learner, "noise_variance", ("evidence",), positive=True),
        bool(learner.balanced),
        bool(learner.noise_per_class),
        check_choice(learner, "criterion", learner.criterion, ("evidence", "bound")),
        check_integer(learner, "relevance_steps", learner.relevance_steps, least=1),
        check_number(learner, "relevance_prior", learner.relevance_prior, least=0, most=1e12),
        check_integer(learner, "random_state", learner.random_state, least=0),
    )


def _rank(learner: Any) -> int | str:
    rank = learner.preconditioner
    if isinstance(rank, str):
        return check_choice(learner, "preconditioner", rank, [AUTO])
    return check_integer(learner, "preconditioner", rank, least=0, most=100_000)


def _number_or_word(learner: Any, name: str, words: tuple[str, ...], *, positive: bool) -> float | None:
    """A number, or None where a word says how to learn it."""
    value = getattr(learner, name)
    if isinstance(value, str):
        check_choice(learner, name, value, words)
        return None
    return (
        check_positive(learner, name, value) if positive else check_number(learner, name, value, least=-1e6, most=1e6)
    )


def _weights(learner: Any) -> Array:
    """One number >= 0 for each dimension; how many there must be is checked where the width is known."""
    try:
        weights = np.array(learner.relevance, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{_who(learner)}: relevance must be one of {', '.join(map(repr, RELEVANCE))} or numbers, "
            f"got {shown(learner.relevance)}."
        ) from None
    if weights.ndim != 1 or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise InvalidInput(f"{_who(learner)}: relevance must be a list of numbers >= 0, not all zero.")
    return weights


def _who(learner: Any) -> str:
    return type(learner).__name__
