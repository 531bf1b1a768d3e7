"""Many cues, one classifier: the weights of several kernels learned by evidence. [Kapoor2010, section 6]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_flag
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import LeaveOneOut, Posterior, mean_of, weighted_sum
from fewsight.learners.base import Latent, LeftOut
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.folds import left_out_folds
from fewsight.learners.kernel_learner import KernelLearner, check_sizes
from fewsight.learners.labels import Labels, class_numbers, targets_of
from fewsight.learners.sharpness import calibrate
from fewsight.learners.weight_search import Combination, SearchSettings, combine


class KernelCombination(KernelLearner):
    """A Gaussian-process classifier that learns how much each kernel counts, for all classes together or each by itself.

    `GPClassifier(weights="evidence")` combines in the same way with the default settings here, and can take in more examples
    and say what is unknown; this is the place for other penalties, for weights per class and for looking at the search.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them.
        Several are what this learner is for.
    penalty : "even" pulls weights to each other, "l1" and "l2" to zero, "none" leaves them alone; see `fewsight.gp.Penalty`.
    strength : of the penalty, or "auto": chosen, between the plain average and next to no penalty, by how probable left-out
        training examples are. With one example per class the average stays.
    scope : "global" for weights that all classes share, "classwise" for weights of their own.
    free_mean : whether the mean of the targets is left open, or "auto": chosen as the strength is. With a mean of zero kernels
        must also explain that most targets are -1, and those that find all images alike gain.
    noise_variance : "left-out" (as for the strength), "evidence", or a number that stays as it is.
    n_starts : places from which the search begins; the best result counts.
    warm_start : begin where the last `fit` ended, if it was about as many kernels and classes.
    random_state : seed of the further starts.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    weights_ : (n_kernels,), or (n_classes, n_kernels) for "classwise", for kernels scaled to a training diagonal of mean 1. They
        add up to 1 unless the noise was given as a number.
    noise_variance_ : a number, or (n_classes,).
    strength_ : the strength that was used; infinite for the plain average.
    n_evaluations_ : evaluations of evidence and gradient that the search took.
    calibration_ : how latent values become probabilities.
    """

    name: ClassVar[str] = "combination"
    title: ClassVar[str] = "GP, weights by evidence"
    note: ClassVar[str] = "a Gaussian process classifier that learns how much each of several channels counts."
    ways: ClassVar[tuple[str, ...]] = ("evidence",)
    learns_none_of_these: ClassVar[bool] = True

    combination_: Combination
    posteriors_: list[Posterior]
    calibration_: Calibration

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        penalty: str = "even",
        strength: float | str = "auto",
        scope: str = "global",
        free_mean: bool | str = "auto",
        noise_variance: float | str = "left-out",
        n_starts: int = 1,
        warm_start: bool = False,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.strength = strength
        self.scope = scope
        self.free_mean = free_mean
        self.noise_variance = noise_variance
        self.n_starts = n_starts
        self.warm_start = warm_start
        self.random_state = random_state

    @property
    def weights_(self) -> Array:
        check_is_fitted(self)
        return self.combination_.weights if self.scope == "classwise" else self.combination_.weights[0]

    @property
    def noise_variance_(self) -> Array | float:
        check_is_fitted(self)
        return self.combination_.noise if self.scope == "classwise" else float(self.combination_.noise[0])

    @property
    def strength_(self) -> float:
        check_is_fitted(self)
        penalty = self.combination_.penalty
        return np.inf if penalty is None else penalty.strength

    @property
    def n_evaluations_(self) -> int:
        check_is_fitted(self)
        return self.combination_.evaluations

    def latent(self, X: Examples) -> Latent:
        """Posterior mean and standard deviation of each class."""
        rows = self._read(X)
        blocks, diagonals = self.input_.compare(rows), self.input_.diagonals(rows)
        means, deviations = [], []
        for posterior, weights in zip(self.posteriors_, self.combination_.weights, strict=True):
            K_test = weighted_sum(blocks, weights)
            variance = posterior.variance(K_test, np.tensordot(weights, diagonals, axes=1))
            means.append(posterior.mean(K_test))
            deviations.append(np.repeat(np.sqrt(variance)[:, None], posterior.n_targets, axis=1))
        return Latent(np.hstack(means), np.hstack(deviations))

    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, given that it is one of them; calibrated on left-out training examples."""
        mean = self._decide(X)
        return self.calibration_.probabilities(mean)

    def leave_one_out(self) -> LeaveOneOut:
        """Latent values of each training example as if it had not been there, in closed form.

        Where each class has a posterior of its own, the variances are those of the class whose example it is.
        """
        check_is_fitted(self)
        parts = [posterior.leave_one_out() for posterior in self.posteriors_]
        variances = np.stack([part.variance for part in parts], axis=1)
        own = np.maximum(self._members(), 0) if len(parts) > 1 else np.zeros(len(variances), np.intp)
        return LeaveOneOut(np.hstack([part.mean for part in parts]), variances[np.arange(len(own)), own])

    def left_out(self) -> LeftOut | None:
        """How often each training example is recognised by the others, in the mean over classes of two or more."""
        pictures = self.input_.copies()
        if pictures is None:
            return LeftOut.of(self.leave_one_out().mean, self._members(), None)
        mean = np.hstack([posterior.leave_group_out(pictures).mean for posterior in self.posteriors_])
        return LeftOut.of(mean, self._members(), pictures)

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts; in the mean over the classes where each has weights of its own."""
        check_is_fitted(self)
        weights = self.combination_.weights
        return (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)

    def found(self) -> dict[str, float]:
        """The noise variance, of a typical class where each has its own."""
        check_is_fitted(self)
        return {"noise variance": float(np.exp(np.log(self.combination_.noise).mean()))}

    def _members(self) -> Indices:
        """The number of each training example's class; -1 for one of none."""
        return class_numbers(np.hstack([posterior.targets for posterior in self.posteriors_]))

    def _learned(self) -> State:
        state = State({"options": self._options(), "n_posteriors": len(self.posteriors_)}, {})
        state = state.join("combination", self.combination_.state()).join("calibration", self.calibration_.state())
        for number, posterior in enumerate(self.posteriors_):
            state = state.join(f"posterior{number}", posterior.state())
        return state

    def _restore(self, state: State) -> None:
        self._restore_options(state)
        n, c = state.integer("n_posteriors", least=1, most=max(1, len(self.classes_))), len(self.classes_)
        if n not in (1, c):
            raise InvalidInput(f"there must be one posterior, or one for each of {c} classes, got {n}.")
        self.combination_ = Combination.from_state(state.nested("combination"), n, len(self.input_.scales))
        self.calibration_ = Calibration.from_state(state.nested("calibration"))
        self.posteriors_ = [Posterior.from_state(state.nested(f"posterior{number}")) for number in range(n)]
        for posterior in self.posteriors_:
            check_sizes(posterior, c if n == 1 else 1, self.input_.n_training)

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        check_flag(self, "warm_start", self.warm_start)
        targets = targets_of(labels, self.classes_)
        settings = SearchSettings(
            self.penalty,
            self.strength,
            self.scope,
            self.free_mean,
            self.noise_variance,
            self.n_starts,
            self.random_state,
        )
        start = self._start(len(grams), targets.shape[1])
        self.combination_ = combine(grams, targets, settings, start, self.input_.pictures)
        self.posteriors_ = list(self.combination_.posteriors(grams, targets))
        self._calibrate(grams, targets)

    def _start(self, n_kernels: int, n_classes: int) -> Combination | None:
        known = getattr(self, "combination_", None) if self.warm_start else None
        shape = (n_classes if self.scope == "classwise" else 1, n_kernels)
        return known if known is not None and known.weights.shape == shape else None

    def _calibrate(self, grams: Sequence[Array], targets: Array) -> None:
        """With several classes, by the training examples that can be left out."""
        if targets.shape[1] < 2:
            self.calibration_ = Calibration()
            return
        left_out = left_out_folds(mean_of(grams), class_numbers(targets), self.input_.pictures)
        usual = self.combination_.under_usual_noise().posteriors(grams, targets)
        self.calibration_ = calibrate(self.posteriors_, list(usual), *left_out, balanced=False).calibration

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        blocks = self.input_.compare(rows)
        return np.hstack(
            [self._mean(*pair, blocks) for pair in zip(self.posteriors_, self.combination_.weights, strict=True)]
        )

    @staticmethod
    def _mean(posterior: Posterior, weights: Array, blocks: Sequence[Array]) -> Array:
        return posterior.mean(weighted_sum(blocks, weights))
