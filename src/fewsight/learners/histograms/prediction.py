"""What a fitted histogram learner says about new examples: classes, latent values, probabilities, and what is strange."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp import IterativePosterior
from fewsight.kernels import HistogramOperator
from fewsight.learners.base import Assessment, Latent
from fewsight.learners.calibration import Calibration
from fewsight.learners.histograms.variance import LazyVariance
from fewsight.learners.labels import Labels
from fewsight.learners.novelty import Novelty, Signs, relative
from fewsight.learners.probability import largest_probability


class HistogramAnswers(ABC):
    """All that is asked of a histogram learner once it is fitted; it only reads the posterior."""

    classes_: Labels
    posterior_: IterativePosterior[HistogramOperator]
    noise_variance_: float | Array
    calibration_: Calibration
    novelty_: Novelty
    variances_: LazyVariance
    calibrated: bool
    variance: str

    @abstractmethod
    def _read(self, X: Any) -> Any:
        """New examples, checked, as histograms."""

    def predict(self, X: Any) -> Labels:
        """The class of each example."""
        columns = self._decided(self.latent_mean(X))
        return self.classes_[columns]

    def latent_mean(self, X: Any) -> Array:
        """Latent mean of each class (m, c), in constant time per example."""
        rows = self._read(X)
        return self.posterior_.mean(rows)

    def latent(self, X: Any) -> Latent:
        """Latent mean and standard deviation of each class; the deviation is one for all classes of an example."""
        rows = self._read(X)
        return self._latent(self.posterior_.mean(rows), self._variances(rows))

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, given that it is one of them."""
        rows = self._read(X)
        return self._probabilities(self.posterior_.mean(rows), None if self.calibrated else self._variances(rows))

    def assess(self, X: Any) -> Assessment:
        """All of `latent`, `predict_proba`, `unknown_score` and `is_unknown`, reading X once."""
        rows = self._read(X)
        mean, variance = self.posterior_.mean(rows), self._variances(rows)
        probabilities = self._probabilities(mean, variance)
        prior = self.posterior_.prior_variance(rows)
        score = self.novelty_.score(self._signs(mean, variance, prior, probabilities))
        unknown = score > self.novelty_.threshold
        return Assessment(self._latent(mean, variance), probabilities, score, unknown, self.novelty_.threshold)

    def exact_variance(self, X: Any) -> Array:
        """Variance of the latent values (m, c) by conjugate gradients: a system for each example, and each noise."""
        return self.posterior_.variance(self._read(X))

    def _signs(self, mean: Array, variance: Array, prior: Array, probabilities: Array) -> Signs:
        return Signs.of(mean, relative(variance, prior), probabilities, np.zeros(len(mean)))

    def _decided(self, mean: Array) -> Indices:
        """The column of each example's class: the most probable one, where probabilities are calibrated."""
        scores = self.calibration_.scores(mean) if self.calibrated else mean
        return np.asarray(scores.argmax(axis=1), dtype=np.intp)

    def _probabilities(self, mean: Array, variance: Array | None) -> Array:
        if variance is None or self.calibrated:
            return self.calibration_.probabilities(mean)
        noise = self.posterior_.scale * float(np.mean(self.noise_variance_))
        return largest_probability(mean, np.sqrt(variance + noise))

    def _variances(self, rows: Any) -> Array:
        """One for each example, the largest of all classes where their noise differs."""
        if self.variance == "exact":
            return self.posterior_.variance(rows).max(axis=1)
        return self.posterior_.scale * self.variances_.fast.of(rows)

    @staticmethod
    def _latent(mean: Array, variance: Array) -> Latent:
        return Latent(mean, np.repeat(np.sqrt(variance)[:, None], mean.shape[1], axis=1))
