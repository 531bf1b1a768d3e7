"""What a fitted histogram learner says about new examples: classes, latent values, probabilities, and what is strange."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.progress import track
from fewsight._base.types import Array, Indices, Rows
from fewsight.gp import IterativePosterior, PredictiveOperator
from fewsight.kernels import HistogramOperator, TableOnDemand
from fewsight.learners.base import Assessment, Latent, Learner, Verdict
from fewsight.learners.calibration import Calibration, fit_calibration
from fewsight.learners.examples import Examples
from fewsight.learners.folds import sampled_folds
from fewsight.learners.histograms.variance import LazyVariance
from fewsight.learners.labels import NO_CLASS, Labels
from fewsight.learners.novelty import RULES, Novelty, Signs, fit_novelty, relative
from fewsight.learners.probability import largest_probability

Operator = TypeVar("Operator", bound=PredictiveOperator)


class HistogramAnswers(Learner):
    """All that is asked of a histogram learner once it has a posterior, and how it learns how sure to be."""

    posterior_: IterativePosterior[HistogramOperator]
    variances_: LazyVariance
    noise_variance_: float | Array
    calibration_: Calibration
    novelty_: Novelty
    left_out_accuracy_: float | None

    balanced: bool
    calibrated: bool
    variance: str
    unknown_rule: str
    false_alarm_rate: float

    @abstractmethod
    def _read(self, X: Examples) -> Rows:
        """New examples, checked, as histograms."""

    def predict(self, X: Examples) -> Labels:
        """The class of each example."""
        columns = self._decided(self.latent_mean(X))
        return self.classes_[columns]

    def latent_mean(self, X: Examples) -> Array:
        """Latent mean of each class (m, c), in constant time per example.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images.

        Returns
        -------
        array (m, c)
            In the order of `classes_`.
        """
        rows = self._read(X)
        return self.posterior_.mean(rows)

    def tabulate(self) -> float | None:
        """Make the look-up table now, so that from here on an example takes constant time, however many there were to learn from.

        Otherwise a large model makes it once it was asked about as many examples, at least as many as there are classes, as the
        table is worth, and answers exactly until then.

        Returns
        -------
        float or None
            By how much a latent mean may differ from the exact one at most: 0 where there is no table, None where that is not
            known because the kernel has a transform.
        """
        check_is_fitted(self)
        products, operator = self.posterior_.products, self.posterior_.operator
        if not isinstance(products, TableOnDemand):
            return 0.0
        table = products.table
        known = operator.transform.kind == "none"
        return float(table.greatest_error(operator, self.posterior_.dual_weights).max()) if known else None

    def latent(self, X: Examples) -> Latent:
        """Latent mean and standard deviation of each class; the deviation is one for all classes of an example."""
        rows = self._read(X)
        return _latent(self.posterior_.mean(rows), self._variances(rows))

    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, given that it is one of them."""
        rows = self._read(X)
        return self._probabilities(self.posterior_.mean(rows), None if self.calibrated else self._variances(rows))

    def assess(self, X: Examples) -> Assessment:
        """All of `latent`, `predict_proba`, `unknown_score` and `is_unknown`, reading X once."""
        rows = self._read(X)
        mean, variance = self.posterior_.mean(rows), self._variances(rows)
        return Assessment(_latent(mean, variance), *self._verdict(rows, mean, variance)[1:])

    def verdict(self, X: Examples) -> Verdict:
        """As `assess`, without standard deviations; the variance is computed only where a decision depends on it."""
        rows = self._read(X)
        mean = self.posterior_.mean(rows)
        return self._verdict(rows, mean, self._variances(rows) if self._needs_variance else None)

    def doubts(self) -> tuple[str, ...]:
        """Whether there are labels enough to say what is unknown."""
        return self.novelty_.doubts

    def exact_variance(self, X: Examples) -> Array:
        """Variance of the latent values (m, c) by conjugate gradients: a system for each example, and each noise.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images.

        Returns
        -------
        array (m, c)
            Variances >= 0; all columns are alike unless each class has noise of its own.
        """
        rows = self._read(X)
        return self.posterior_.variance(rows)

    def _calibrate(self, posterior: IterativePosterior[Operator]) -> None:
        """Predict some training examples from the others, and set what that teaches: calibration, novelty, accuracy.

        The posterior is that of the learner; its operator may be elsewhere.
        """
        pictures = self.input_.pictures
        if pictures is not None and len(pictures) != posterior.n:
            pictures = None  # some were added since
        folds = sampled_folds(posterior.operator, posterior.classes, pictures=pictures)
        parts = [posterior.left_out(fold) for fold in track(folds, "left-out examples", len(folds))]
        mean = np.concatenate([*parts, np.zeros((0, posterior.n_classes))])
        chosen = np.concatenate([*folds, np.zeros(0, np.intp)])
        truth = posterior.classes[chosen]
        self.calibration_ = Calibration()
        if self.calibrated:
            known = posterior.classes[posterior.classes != NO_CLASS]
            shares = np.bincount(known, minlength=posterior.n_classes) / len(known)
            self.calibration_ = fit_calibration(mean, truth, shares, balanced=bool(self.balanced))
        right = self._decided(mean) == truth
        recalls = [right[truth == column].mean() for column in np.unique(truth)]
        self.left_out_accuracy_ = float(np.mean(recalls)) if recalls else None
        variance = prior = posterior.scale * posterior.operator.diag()[chosen]
        rule = RULES[self.unknown_rule]
        if len(chosen) and ("variance" in rule or ("probability" in rule and not self.calibrated)):
            variance = posterior.scale * self.variances_.fast.left_out(chosen)
        signs = Signs.of(mean, relative(variance, prior), self._probabilities(mean, variance))
        outsiders = posterior.classes == NO_CLASS
        labels = float((~outsiders).sum()) / posterior.n_classes
        self.novelty_ = fit_novelty(
            self.unknown_rule, signs, float(self.false_alarm_rate), labels, with_outsiders=bool(outsiders.any())
        )

    @property
    def _needs_variance(self) -> bool:
        """Whether a decision about a new example depends on its variance."""
        return not self.calibrated or "variance" in RULES[self.unknown_rule]

    def _verdict(self, rows: Rows, mean: Array, variance: Array | None) -> Verdict:
        """Without a variance where nothing that is decided depends on it."""
        probabilities, threshold = self._probabilities(mean, variance), self.novelty_.threshold
        share = np.ones(len(mean)) if variance is None else relative(variance, self.posterior_.prior_variance(rows))
        score = self.novelty_.score(Signs.of(mean, share, probabilities))
        return Verdict(mean, probabilities, score, score > threshold, threshold)

    def _decided(self, mean: Array) -> Indices:
        """The column of each example's class: the most probable one, where probabilities are calibrated."""
        scores = self.calibration_.scores(mean) if self.calibrated else mean
        return np.asarray(scores.argmax(axis=1), dtype=np.intp)

    def _probabilities(self, mean: Array, variance: Array | None) -> Array:
        if variance is None or self.calibrated:
            return self.calibration_.probabilities(mean)
        noise = self.posterior_.scale * float(np.mean(self.noise_variance_))
        return largest_probability(mean, np.sqrt(variance + noise))

    def _variances(self, rows: Rows) -> Array:
        """One for each example, the largest of all classes where their noise differs."""
        if self.variance == "exact":
            return self.posterior_.variance(rows).max(axis=1)
        return self.posterior_.scale * self.variances_.fast.of(rows)


def _latent(mean: Array, variance: Array) -> Latent:
    return Latent(mean, np.repeat(np.sqrt(variance)[:, None], mean.shape[1], axis=1))
