"""How sure to be and what is strange, learned from training examples that the others predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.gp import IterativePosterior
from fewsight.kernels import HistogramOperator
from fewsight.learners.calibration import Calibration, fit_calibration
from fewsight.learners.histograms.folds import left_out_folds
from fewsight.learners.novelty import RULES, fit_novelty


def calibrate(learner: Any) -> None:
    """Predict some training examples from the others, and set what that teaches: calibration, novelty, accuracy."""
    posterior: IterativePosterior[HistogramOperator] = learner.posterior_
    chosen, mean = _left_out(posterior)
    truth = posterior.classes[chosen]
    shares = np.bincount(posterior.classes, minlength=posterior.n_classes) / posterior.n
    balanced = bool(learner.balanced)
    learner.calibration_ = (
        fit_calibration(mean, truth, shares, balanced=balanced) if learner.calibrated else Calibration()
    )
    learner.left_out_accuracy_ = _accuracy(learner._decided(mean) == truth, truth)
    prior = posterior.scale * posterior.operator.diag()[chosen]
    needs = "variance" in RULES[learner.unknown_rule] or not learner.calibrated
    variance = posterior.scale * learner.variances_.fast.left_out(chosen) if needs and len(chosen) else prior
    signs = learner._signs(mean, variance, prior, learner._probabilities(mean, variance))
    learner.novelty_ = fit_novelty(learner.unknown_rule, signs, float(learner.false_alarm_rate))


def _left_out(posterior: IterativePosterior[HistogramOperator]) -> tuple[Indices, Array]:
    """The examples that are left out, fold by fold, and their latent means (m, c)."""
    folds = left_out_folds(posterior.operator, posterior.classes)
    parts = [posterior.left_out(fold) for fold in track(folds, "left-out examples", len(folds))]
    chosen = np.concatenate(folds) if folds else np.zeros(0, np.intp)
    return chosen, np.concatenate([*parts, np.zeros((0, posterior.n_classes))])


def _accuracy(right: Array, truth: Indices) -> float | None:
    """The mean over the classes that occur; None if there are none."""
    present = np.unique(truth)
    return float(np.mean([right[truth == c].mean() for c in present])) if len(present) else None
