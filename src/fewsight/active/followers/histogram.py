"""`HistogramGPClassifier` on a pool of histograms: exact after every label, of which no Gram matrix is formed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_number, check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.followers.base import Certainty, Follower, LeftOut, Recorded
from fewsight.active.pools import Pool
from fewsight.active.pools.histogram_rows import HistogramRows, KeptColumns
from fewsight.active.views import HistogramView, Labelled, LabelledView
from fewsight.kernels import HistogramIntersection, HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import KernelLike
from fewsight.learners.histograms import Found, choose_kernel_and_noise
from fewsight.learners.histograms.model_selection import AUTO

PLAIN_NOISE = 1e-2  # relative, before any is learned
NEUTRAL = {"power": 1.0, "exponential": 0.0}  # the parameter with which a transform changes nothing


@final
@dataclass(frozen=True, eq=False)
class LearnedHistograms:
    """Kernel and noise on a pool."""

    columns: KeptColumns
    factor: float  # by which the columns' kernel has a mean diagonal of 1
    noise_variance: float
    log_evidence: float | None = None  # None before anything was learned


@final
class HistogramFollower(Follower[LearnedHistograms]):
    """Follows with `HistogramView`; noise, transform and relevance are learned as `HistogramGPClassifier` learns them."""

    template: HistogramGPClassifier

    def __init__(self, template: HistogramGPClassifier, pool: Pool, known: Indices) -> None:
        super().__init__(template, pool, known)
        if template.balanced or template.noise_per_class:  # covariances would not be those of all classes
            raise InvalidInput(
                "ActiveLearner: a HistogramGPClassifier must have one noise for all classes, got "
                f"{'balanced' if template.balanced else 'noise_per_class'}=True."
            )
        for name in ("hellinger_share", "noise_balance"):  # kept columns are those of intersection, with one noise
            if getattr(template, name) not in (0, AUTO):
                raise InvalidInput(
                    f"ActiveLearner: a HistogramGPClassifier must have {name}=0 or '{AUTO}', got {getattr(template, name)!r}."
                )
        self.rows: HistogramRows = pool.histograms("ActiveLearner", known)
        self._last: KeptColumns | None = None  # those of the last weights that were learned: columns that serve on

    @classmethod
    def kernel(cls, template: HistogramGPClassifier) -> KernelLike:
        return HistogramIntersection() if template.kernel is None else template.kernel

    @cached_property
    def _plain(self) -> LearnedHistograms:
        settings = self.template.settings()
        operator = self.rows.operator if settings.weights is None else self.rows.operator.with_weights(settings.weights)
        if settings.transform != "none":
            parameter = NEUTRAL[settings.transform] if settings.parameter is None else settings.parameter
            operator = operator.with_transform(settings.transform, parameter)
        noise = PLAIN_NOISE if settings.level is None else settings.level
        mean = operator.trace() / max(operator.n, 1)
        return LearnedHistograms(KeptColumns(operator), 1.0 / mean if mean > 0 else 1.0, noise)

    def plain(self) -> LearnedHistograms:
        return self._plain

    def _learn(self, labelled: Labelled) -> LearnedHistograms:
        rows, classes = self.rows.rows[labelled.positions], labelled.numbers()
        operator, groups = HistogramOperator.from_rows(rows), self.rows.side.groups
        settings = self.template.settings().for_classes(classes).with_auto(False)
        found = choose_kernel_and_noise(operator, rows, classes, len(labelled.classes), groups, settings)
        noise, kernel = float(found.levels[0]), self._plain.columns.operator
        factor = _scalar(found.operator.weights, kernel.weights)
        if factor is not None and found.operator.transform == kernel.transform:
            return LearnedHistograms(self._plain.columns, factor, noise, found.log_evidence)
        columns = self._columns(found.operator.weights, found.parameter)
        return LearnedHistograms(columns, 1.0, noise, found.log_evidence)

    def _columns(self, weights: Array, parameter: float | None) -> KeptColumns:
        """Of the pool's kernel with other weights or another transform; the last ones serve on if they are the same."""
        operator = self.rows.operator.with_weights(weights)
        if parameter is not None:
            operator = operator.with_transform(self.template.settings().transform, parameter)
        last = self._last
        same = last is not None and last.operator.transform == operator.transform
        if last is None or not same or not np.array_equal(last.operator.weights, weights):
            self._last = KeptColumns(operator)
        assert self._last is not None
        return self._last

    def view(self, settings: LearnedHistograms) -> HistogramView:
        return HistogramView(self.rows, settings.columns, settings.factor, settings.noise_variance)

    def learner(self, labelled: Labelled, settings: LearnedHistograms) -> HistogramGPClassifier:
        kernel, rows, side = settings.columns.operator, self.rows.rows[labelled.positions], self.rows.side
        parameter = getattr(kernel.transform, "parameter", None)
        operator = HistogramOperator.from_rows(rows, weights=settings.factor * kernel.weights)
        operator = operator.with_transform(kernel.transform.kind, parameter)
        noise = np.full((len(labelled.labels), 1), settings.noise_variance)
        found = Found(operator, parameter, noise, np.array([settings.noise_variance]), settings.log_evidence)
        model: HistogramGPClassifier = clone(self.template).set_params(kernel=side.parameter)
        return model.settle(side, np.array(labelled.classes), labelled.numbers(), found, rows)

    def certainty(self, labelled: Labelled, settings: LearnedHistograms) -> Certainty:
        if len(labelled.classes) < 2:
            return Certainty()
        model = self.learner(labelled, settings)
        return Certainty(model.calibration_ if self.template.calibrated else None, model.novelty_)

    def left_out(self, view: LabelledView, settings: LearnedHistograms) -> LeftOut | None:
        known = view.closed_form()
        assert known is not None
        calibration = view.calibration or Calibration()
        return LeftOut(known.posterior().leave_one_out().mean, view.labelled.numbers(), calibration)

    def record(self, settings: LearnedHistograms) -> Recorded | None:
        """Weights of many dimensions are learned again."""
        if settings.columns is not self._plain.columns:
            return None
        evidence = {} if settings.log_evidence is None else {"log_evidence": float(settings.log_evidence)}
        return {"factor": settings.factor, "noise_variance": settings.noise_variance, **evidence}

    def from_record(self, record: Recorded) -> LearnedHistograms:
        factor, noise = (check_positive("records", name, record[name]) for name in ("factor", "noise_variance"))
        evidence = record.get("log_evidence")
        known = (
            None if evidence is None else check_number("records", "log_evidence", evidence, least=-1e300, most=1e300)
        )
        return LearnedHistograms(self._plain.columns, factor, noise, known)


def _scalar(weights: Array, others: Array) -> float | None:
    """The number by which the others must be multiplied to be the weights; None if there is none."""
    total = float(others.sum())
    factor = float(weights.sum()) / total if total else 1.0
    return factor if np.allclose(weights, factor * others, rtol=1e-9, atol=0.0) else None
