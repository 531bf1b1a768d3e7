"""`HistogramGPClassifier` on a pool: what is learned at intervals, and the learner that a user takes away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.active.pools.histograms import HistogramRows, KeptColumns
from fewsight.active.views import HistogramView
from fewsight.gp import Posterior
from fewsight.kernels import HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import Found, find, settings_of
from fewsight.learners.weight_search import PLAIN_NOISE

NEUTRAL = {"power": 1.0, "exponential": 0.0}  # the parameter with which a transform changes nothing


@final
@dataclass(frozen=True, eq=False)
class LearnedHistograms:
    """Kernel and noise on a pool."""

    columns: KeptColumns
    factor: float  # by which the columns' kernel has a mean diagonal of 1
    noise_variance: float
    found: Found | None = None  # None before anything was learned

    def view(self, rows: HistogramRows) -> HistogramView:
        """The pool as these let it be seen, without any label."""
        return HistogramView(rows, self.columns, self.factor, self.noise_variance)


def check_template(learner: HistogramGPClassifier) -> None:
    """One noise for all classes: else the covariances of a pool would not be those of all classes."""
    if learner.balanced or learner.noise_per_class:
        raise InvalidInput(
            "ActiveLearner: a HistogramGPClassifier must have one noise for all classes, got "
            f"{'balanced' if learner.balanced else 'noise_per_class'}=True."
        )


def plain_histograms(learner: HistogramGPClassifier, rows: HistogramRows) -> LearnedHistograms:
    """What is given, and plain values for what is to be learned."""
    settings = settings_of(learner)
    operator = rows.operator if settings.weights is None else rows.operator.with_weights(settings.weights)
    if settings.transform != "none":
        parameter = NEUTRAL[settings.transform] if settings.parameter is None else settings.parameter
        operator = operator.with_transform(settings.transform, parameter)
    noise = PLAIN_NOISE if settings.level is None else settings.level
    return LearnedHistograms(KeptColumns(operator), _factor(operator), noise)


def learned_histograms(
    learner: HistogramGPClassifier, view: HistogramView, before: LearnedHistograms
) -> LearnedHistograms:
    """Noise, transform and relevance as the learner finds them on the labelled examples."""
    settings = settings_of(learner)
    labelled = HistogramOperator.from_rows(view.rows.rows[view.positions])
    numbers = _numbers(view)
    found = find(labelled, numbers, len(view.classes), view.rows.side.groups, settings)
    noise = float(found.levels[0])
    weights, kernel = found.operator.weights, before.columns.operator
    factor = _scalar(weights, kernel.weights)
    if factor is not None and found.operator.transform == kernel.transform:
        return LearnedHistograms(before.columns, factor, noise, found)  # all columns that were kept serve on
    operator = view.rows.operator.with_weights(weights)
    if found.parameter is not None:
        operator = operator.with_transform(settings.transform, found.parameter)
    return LearnedHistograms(KeptColumns(operator), 1.0, noise, found)


def assembled_histograms(
    learner: HistogramGPClassifier, view: HistogramView, learned: LearnedHistograms
) -> HistogramGPClassifier:
    """A classifier that has learned all labels of the view, calibrated, for examples of the form in which the pool came."""
    kernel = learned.columns.operator
    rows = view.rows.rows[view.positions]
    operator = HistogramOperator.from_rows(rows, weights=learned.factor * kernel.weights)
    parameter = getattr(kernel.transform, "parameter", None)
    operator = operator.with_transform(kernel.transform.kind, parameter)
    evidence = None if learned.found is None else learned.found.log_evidence
    noise = np.full((view.n_labelled, 1), learned.noise_variance)
    found = Found(operator, parameter, noise, np.array([learned.noise_variance]), evidence)
    model: HistogramGPClassifier = clone(learner).set_params(kernel=view.rows.side.parameter)
    return model.settle(view.rows.side, np.array(view.classes), _numbers(view), found, rows)


def labelled_posterior(view: HistogramView) -> Posterior:
    """Of the labelled examples, which can be left out in closed form."""
    return Posterior.condition(*view.labelled())


def _numbers(view: HistogramView) -> Any:
    place_of = {label: place for place, label in enumerate(view.classes)}
    return np.array([place_of[label] for label in view.labels], dtype=np.intp)


def _factor(operator: HistogramOperator) -> float:
    mean = operator.trace() / max(operator.n, 1)
    return 1.0 / mean if mean > 0 else 1.0


def _scalar(weights: Array, others: Array) -> float | None:
    """The number by which the others must be multiplied to be the weights; None if there is none."""
    total = float(others.sum())
    factor = float(weights.sum()) / total if total else 1.0
    return factor if np.allclose(weights, factor * others, rtol=1e-9, atol=0.0) else None
