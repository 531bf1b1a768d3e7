"""Gaussian-process classification by label regression, all classes with one factorisation. [Kapoor2010, sections 4 and 6]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import Posterior
from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.calibration import Calibration, fit_calibration
from fewsight.learners.folds import left_out_folds
from fewsight.learners.gp_state import restored, state_of
from fewsight.learners.hyperparameters import choose_weights_and_noise
from fewsight.learners.labels import Labels, labelled, targets_of
from fewsight.learners.loans import LoanMixin
from fewsight.learners.novelty import (
    AUTO,
    DEFAULT_RULE,
    RULES,
    Signs,
    choose_rule,
    fit_novelty,
    largest_cosine,
    relative,
    similarity_to_other_folds,
    without_own_class,
)
from fewsight.learners.probability import largest_probability


class Assessment(NamedTuple):
    """All that a fitted classifier says about m examples."""

    latent: Latent
    probabilities: Array  # (m, c)
    unknown_score: Array  # (m,)
    unknown: npt.NDArray[np.bool_]  # (m,)


@dataclass(frozen=True)
class _Seen:
    """What the posterior says about m examples."""

    mean: Array  # (m, c)
    variance: Array  # (m,), of the latent values
    diagonal: Array  # (m,), what the variance was before any example
    similarity: Array  # (m,), largest cosine with a training example


class GPClassifier(LoanMixin, KernelLearner):
    """Categories from a few examples, with a standard deviation for every latent value.

    Each class is a Gaussian process whose target is +1 for its own examples and -1 for all others; the largest posterior mean
    decides. One Cholesky factorisation serves all classes.

    Parameters
    ----------
    kernel : what X is, as for every learner.
    noise_variance : variance of the noise on the targets, or how to learn it: "left-out", the one of a few under which left-out
        training examples are most probable, or "evidence".
    weights : of several Gram matrices or channels: "average", one number for each, or "evidence": learned together with the
        noise, with a penalty that is chosen by left-out examples (see `KernelCombination`).
    prior_weights : one number for each, used instead of "evidence" where nothing can be learned: with one example per class. None
        leaves it to the channels, of which a network that was trained on other images counts for more.
    balanced : give examples of frequent classes more noise, N_ii = noise_variance * classes * n_class(i) / n, so that rare
        classes count as much. [Rodner2012, section 3]
    calibrated : learn from left-out training examples how sure to be; without it, `predict_proba` is the probability that
        the target of a class is the largest, by the posterior alone.
    unknown_rule : what speaks for an image that is like nothing seen, see `fewsight.learners.novelty`; "auto" takes the rule that
        best notices training examples whose whole class is left out.
    false_alarm_rate : the share of images of known classes that `is_unknown` may take for unknown.

    Attributes
    ----------
    classes_ : labels in the order of the columns of `predict_proba` and `latent`.
    noise_variance_ : the noise variance that is used.
    weights_ : weight of each Gram matrix, for kernels scaled to a training diagonal of mean 1.
    posterior_ : the posterior, see `fewsight.gp.Posterior`.
    calibration_ : how latent values become probabilities; `calibration_.from_prior` says that no class had two examples.
    loans_ : what categories borrow from others, see `borrow`; nothing after `fit`.
    novelty_ : how `unknown_score` is put together, and its threshold.
    """

    posterior_: Posterior

    def __init__(
        self,
        kernel: Any = None,
        *,
        noise_variance: float | str = "left-out",
        weights: str | Sequence[float] = "average",
        prior_weights: Sequence[float] | None = None,
        balanced: bool = False,
        calibrated: bool = True,
        unknown_rule: str = AUTO,
        false_alarm_rate: float = 0.05,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.weights = weights
        self.prior_weights = prior_weights
        self.balanced = balanced
        self.calibrated = calibrated
        self.unknown_rule = unknown_rule
        self.false_alarm_rate = false_alarm_rate

    def latent(self, X: Any) -> Latent:
        """Posterior mean and standard deviation of each class; the deviation is one for all classes of an example."""
        return self._latent(self._look(X))

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, given that it is one of them."""
        seen = self._look(X)
        return self._probabilities(seen.mean, seen.variance)

    def unknown_score(self, X: Any) -> Array:
        """How little each example is like anything learned; higher is stranger, above `novelty_.threshold` unknown."""
        return self.assess(X).unknown_score

    def is_unknown(self, X: Any) -> npt.NDArray[np.bool_]:
        """Whether each example is like nothing learned, with `false_alarm_rate` of known ones among them."""
        return self.assess(X).unknown

    def assess(self, X: Any) -> Assessment:
        """All of `latent`, `predict_proba`, `unknown_score` and `is_unknown`, reading X once."""
        seen = self._look(X)
        probabilities = self._probabilities(seen.mean, seen.variance)
        signs = Signs.of(seen.mean, relative(seen.variance, seen.diagonal), probabilities, seen.similarity)
        score = self.novelty_.score(signs)
        return Assessment(self._latent(seen), probabilities, score, score > self.novelty_.threshold)

    def recalibrate(self) -> Self:
        """Learn anew how sure to be and what is unknown, after examples were added or removed."""
        check_is_fitted(self)
        self._calibrate(self.posterior_.covariance())
        return self

    def leave_one_out_labels(self) -> Labels:
        """What each training example would be called if it had not been there."""
        return self.classes_[self.leave_one_out().mean.argmax(axis=1)]

    @property
    def labels_(self) -> Labels:
        """The labels of the training examples."""
        check_is_fitted(self)
        return self.classes_[self.posterior_.targets.argmax(axis=1)]

    def add(self, X: Any, y: Any) -> Self:
        """Take in more examples, of old or new classes, without learning noise or weights again.

        New classes come after the old ones in `classes_`. With "precomputed", X holds the new rows against all earlier
        examples and then against each other: m x (n + m).
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        larger, old, among = self.input_.extend(X)
        m = len(old[0])
        labels, positions = labelled(self, y, m)
        if len(positions) < m:
            raise InvalidInput(
                f"GPClassifier: every added example must have a label, got {m - len(positions)} without."
            )
        classes = self._classes_with(labels)
        n_new = len(classes) - len(self.classes_)
        posterior = self.posterior_.add_targets(np.full((self.posterior_.n, n_new), -1.0)) if n_new else self.posterior_
        noise = np.full(m, self.noise_variance_) * (self._balance(labels, classes) if self.balanced else 1.0)
        self.posterior_ = posterior.append(
            self._combined(old), self._combined(among), targets_of(labels, classes), noise
        )
        self.input_, self.classes_ = larger, classes
        self._settle()
        return self

    def remove(self, indices: Indices) -> Self:
        """Forget training examples, by their positions, without learning noise or weights again."""
        check_is_fitted(self)
        kept = np.delete(np.arange(self.posterior_.n), indices)
        self.posterior_ = self.posterior_.remove(indices)
        self.input_ = self.input_.select(kept)
        self._settle()
        return self

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        return state_of(self)

    @classmethod
    def from_state(cls, state: State) -> Self:
        return restored(cls(), state)

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        targets = targets_of(labels, self.classes_)
        balance = self._balance(labels, self.classes_) if self.balanced else np.ones(len(labels))
        self.weights_, self.noise_variance_ = choose_weights_and_noise(self, grams, targets, balance)
        K = self._combined(grams)
        self.posterior_ = Posterior.condition(K, targets, self.noise_variance_ * balance)
        self.forget_loans()
        self._calibrate(K)

    def _calibrate(self, K: Array) -> None:
        """Predict every training example from those that are not in its fold, in closed form, and learn from that."""
        rule = check_choice(self, "unknown_rule", self.unknown_rule, [AUTO, *RULES])
        if not 0 < self.false_alarm_rate < 1:
            raise InvalidInput(
                f"GPClassifier: false_alarm_rate must be a number between 0 and 1, got {shown(self.false_alarm_rate)}."
            )
        classes = self.posterior_.targets.argmax(axis=1)
        folds, kept = left_out_folds(K, classes)
        left_out = self.posterior_.leave_group_out(folds)
        mean = left_out.mean[kept]
        self.calibration_ = fit_calibration(mean, classes[kept]) if self.calibrated else Calibration()
        known = self._signs(K, folds, mean, left_out.variance, kept)
        if rule == AUTO:
            can_choose = len(kept) > 0 and len(self.classes_) > 2
            rule = choose_rule(known, self._signs_of_left_out_classes(K, classes)) if can_choose else DEFAULT_RULE
        self.novelty_ = fit_novelty(rule, known, float(self.false_alarm_rate))

    def _signs(self, K: Array, folds: Indices, mean: Array, noisy: Array, kept: Indices) -> Signs:
        """What speaks for novelty of training examples that were predicted without their folds."""
        variance = np.maximum(noisy - self.posterior_.noise_variance, 0.0)[kept]
        relative_variance = relative(variance, K.diagonal()[kept])
        similarity = similarity_to_other_folds(K, folds)[kept]
        return Signs.of(mean, relative_variance, self._probabilities(mean, variance), similarity)

    def _signs_of_left_out_classes(self, K: Array, classes: Indices) -> Signs:
        """The same as if the class of each example, one of three or more, had never been learned."""
        left_out = self.posterior_.leave_group_out(classes)
        mean = without_own_class(left_out.mean, classes)
        return self._signs(K, classes, mean, left_out.variance, np.arange(len(classes)))

    def _look(self, X: Any) -> _Seen:
        """Everything the posterior says about new examples, which are read once."""
        rows = self._read(X)
        K_test = self._combined(self.input_.compare(rows))
        diagonal = np.tensordot(self.weights_, self.input_.diagonals(rows), axes=1)
        mean, variance = self._means(K_test), self.posterior_.variance(K_test, diagonal)
        return _Seen(mean, variance, diagonal, largest_cosine(K_test, diagonal, self.training_diagonal_))

    @staticmethod
    def _latent(seen: _Seen) -> Latent:
        return Latent(seen.mean, np.repeat(np.sqrt(seen.variance)[:, None], seen.mean.shape[1], axis=1))

    def _probabilities(self, mean: Array, variance: Array) -> Array:
        if self.calibrated:
            return self.calibration_.probabilities(mean)
        return largest_probability(mean, np.sqrt(variance + self.noise_variance_))

    @property
    def training_diagonal_(self) -> Array:
        """Prior variance of each training example."""
        return self.posterior_.prior_variance

    def _combined(self, grams: Sequence[Array]) -> Array:
        if len(grams) == 1:
            return grams[0] if self.weights_[0] == 1.0 else self.weights_[0] * grams[0]
        return np.tensordot(self.weights_, grams, axes=1)

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        return self._means(self._combined(self.input_.compare(rows)))

    def _balance(self, labels: Labels, classes: Labels) -> Array:
        """Factors on the noise of each example that average to about one; equal classes all get one."""
        known = np.concatenate([self.labels_, labels]) if hasattr(self, "posterior_") else labels
        counts = np.array([(known == label).sum() for label in labels])
        return len(classes) * counts / len(known)

    def _classes_with(self, labels: Labels) -> Labels:
        new = np.setdiff1d(labels, self.classes_)
        return np.concatenate([self.classes_, new]) if len(new) else self.classes_
