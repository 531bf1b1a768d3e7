"""Gaussian-process classification by label regression, all classes with one factorisation. [Kapoor2010, sections 4 and 6]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_flag, check_indices, check_positive, check_share
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel, check_weights, prior_shares
from fewsight.gp import Posterior, learn_noise, weighted_sum
from fewsight.learners.balance import balanced_targets, leave_out
from fewsight.learners.base import Assessment, Latent, LeftOut, plain_options, restore_asked
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.familiarity import Familiarity
from fewsight.learners.folds import left_out_folds
from fewsight.learners.kernel_learner import KernelLearner, check_sizes
from fewsight.learners.labels import NO_CLASS, Labels, LabelsLike, class_numbers, classes_with, labelled, targets_of
from fewsight.learners.loans import LoanMixin
from fewsight.learners.novelty import (
    AUTO,
    CANDIDATES,
    CANDIDATES_WITH_OUTSIDERS,
    COMBINED,
    RULES,
    Novelty,
    Signs,
    choose_rule,
    fit_novelty,
    largest_cosine,
    relative,
    similarity_to_other_folds,
    without_own_class,
)
from fewsight.learners.probability import largest_probability
from fewsight.learners.sharpness import USUAL_NOISE, calibrate
from fewsight.learners.stability import can_tell, few_labels, sharpened, some_unlabelled
from fewsight.learners.weight_search import SearchSettings, combine, mean_diagonal, noise_by_left_out

AT_A_TIME = 4_096  # new examples whose variances are computed together
ASKED = ("noise_variance", "weights", "prior_weights", "unknown_rule")  # what a model file says beside what was found


@dataclass(frozen=True)
class _Seen:
    """What the posterior says about m examples."""

    mean: Array  # (m, c)
    variance: Array  # (m,), of the latent values
    diagonal: Array  # (m,), what the variance was before any example
    familiar_variance: Array  # (m,), by the examples of categories alone
    similarity: Array  # (m,), largest cosine with one of these


class GPClassifier(LoanMixin, KernelLearner):
    """A Gaussian-process classifier for few examples: probabilities, and whether an input is like anything seen.

    Each class is a Gaussian process whose target is +1 for its own examples and -1 for all others. The posterior means decide:
    the largest, or all together (`prototypes`). One Cholesky factorisation serves all classes. With one or two labels of each
    class, some examples without a label (`None`) show how sure to be, see `fewsight.learners.stability`; of more labels they are
    left out.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them. Gaussians of one
        width suit columns of one scale: put a `StandardScaler` before it where columns are measured in different units.
    noise_variance : variance of the noise on the targets, or how to learn it: "left-out", the one of a few under which left-out
        training examples are most probable, or "evidence".
    weights : of several Gram matrices or channels: "average", one number for each, or "evidence": learned together with the
        noise, with a penalty that is chosen by left-out examples (see `KernelCombination`).
    prior_weights : one number for each, used instead of "evidence" where nothing can be learned: with one example per class. None
        leaves it to the channels, of which a network that was trained on other images counts for more.
    balanced : give rare classes larger targets than +1, so that they count as much as frequent ones, see
        `fewsight.learners.balance`; with classes of one size it changes nothing.
    calibrated : learn from left-out training examples how sure to be; without it, `predict_proba` is the probability that
        the target of a class is the largest, by the posterior alone.
    prototypes : with three or more classes, learn from left-out training examples what the latent values of each class look like,
        and decide for the class that those of a new example look most like, see `fewsight.learners.prototypes`; without it, or
        uncalibrated, the largest latent mean decides.
    unknown_rule : what speaks for an image that is like nothing seen, see `fewsight.learners.novelty`; "auto" takes several signs
        together, or the rule that clearly better notices training examples whose whole class is left out.
    false_alarm_rate : the share of images of known classes that `is_unknown` may take for unknown; `novelty_.holds` says whether
        there are labels enough for that, about five of each class.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`. `NONE_OF_THESE` is none of them:
        its examples have the target -1 for every class, are left out of calibration and accuracy, and help to notice what is
        unknown.
    noise_variance_ : the noise variance that is used.
    weights_ : (n_kernels,), the weight of each Gram matrix, for kernels scaled to a training diagonal of mean 1.
    posterior_ : the posterior, see `fewsight.gp.Posterior`.
    calibration_ : how latent values become probabilities; `calibration_.from_prior` says that no class had two examples.
    loans_ : what categories borrow from others, see `borrow`; nothing after `fit`.
    novelty_ : how `unknown_score` is put together, and its threshold.
    """

    name: ClassVar[str] = "gp"
    title: ClassVar[str] = "GP"
    note: ClassVar[str] = "a Gaussian process classifier."
    ways: ClassVar[tuple[str, ...]] = ("average", "evidence")
    learns_none_of_these: ClassVar[bool] = True

    posterior_: Posterior
    calibration_: Calibration
    novelty_: Novelty
    weights_: Array
    noise_variance_: float

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        noise_variance: float | str = "left-out",
        weights: str | Sequence[float] = "average",
        prior_weights: Sequence[float] | None = None,
        balanced: bool = True,
        calibrated: bool = True,
        prototypes: bool = True,
        unknown_rule: str = AUTO,
        false_alarm_rate: float = 0.05,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.weights = weights
        self.prior_weights = prior_weights
        self.balanced = balanced
        self.calibrated = calibrated
        self.prototypes = prototypes
        self.unknown_rule = unknown_rule
        self.false_alarm_rate = false_alarm_rate

    @classmethod
    def looks_at_unlabelled(cls, n_labelled: int, n_classes: int) -> bool:
        return few_labels(n_labelled, n_classes)

    def latent(self, X: Examples) -> Latent:
        """Posterior mean and standard deviation of each class; the deviation is one for all classes of an example."""
        return self._latent(self._look(X))

    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, given that it is one of them."""
        if self.calibrated:  # which needs no variance
            rows = self._read(X)
            return self.calibration_.probabilities(self._means(self._combined(self.input_.compare(rows))))
        seen = self._look(X)
        return self._probabilities(seen.mean, seen.variance)

    def assess(self, X: Examples) -> Assessment:
        """All of `latent`, `predict_proba`, `unknown_score` and `is_unknown`, reading X once."""
        seen = self._look(X)
        probabilities = self._probabilities(seen.mean, seen.variance)
        signs = Signs.of(seen.mean, relative(seen.familiar_variance, seen.diagonal), probabilities, seen.similarity)
        score = self.novelty_.score(signs)
        threshold = self.novelty_.threshold
        return Assessment(self._latent(seen), probabilities, score, score > threshold, threshold)

    def recalibrate(self) -> Self:
        """Learn anew how sure to be and what is unknown, after examples were added or removed."""
        check_is_fitted(self)
        self._calibrate(self.posterior_.covariance())
        return self

    def sharpen(self, with_labelled: Array, among: Array) -> Self:
        """See how sure to be by examples without a label, see `fewsight.learners.stability`; for few labels.

        Parameters
        ----------
        with_labelled : combined kernel values (m, n) of m such examples with the n labelled ones.
        among : of these with each other (m, m).
        """
        self.calibration_ = sharpened(self.calibration_, self.posterior_, with_labelled, among)
        return self

    def left_out_unknown(self) -> npt.NDArray[np.bool_]:
        """Whether each training example would be called unknown if it had not been there (n,)."""
        left_out, every = self.leave_one_out(), np.arange(self.posterior_.n)
        signs = self._signs(self.posterior_.covariance(), every, left_out.mean, left_out.variance, every)
        return self.novelty_.score(signs) > self.novelty_.threshold

    def leave_one_out_labels(self) -> Labels:
        """What each training example would be called if it had not been there.

        Returns
        -------
        array (n,)
            A label for each of the n training examples.
        """
        return self.classes_[self._left_out_values(self.leave_one_out().mean).argmax(axis=1)]

    def add(self, X: Examples, y: LabelsLike) -> Self:
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
        classes = classes_with(self, self.classes_, labels)
        n_new = len(classes) - len(self.classes_)
        posterior = self.posterior_.add_targets(np.full((self.posterior_.n, n_new), -1.0)) if n_new else self.posterior_
        self.posterior_ = posterior.append(
            self._combined(old), self._combined(among), targets_of(labels, classes), np.full(m, self.noise_variance_)
        )
        self.input_, self.classes_ = larger, classes
        self.note_width()
        self._rebalance()
        self._settle()
        return self

    def remove(self, indices: Indices) -> Self:
        """Forget training examples, by their positions, without learning noise or weights again.

        A category that loses its last example stays in `classes_`; one example of a category must be left.
        """
        check_is_fitted(self)
        removed = check_indices(self, indices, self.posterior_.n)
        kept = np.delete(np.arange(self.posterior_.n), removed)
        if (class_numbers(self.posterior_.targets[kept]) == NO_CLASS).all():
            raise InvalidInput(
                f"{type(self).__name__}: indices must leave an example of some category, got those of all, {len(removed):,}."
            )
        self.posterior_ = self.posterior_.remove(removed)
        self.input_ = self.input_.select(kept)
        self._rebalance()
        self._settle()
        return self

    def left_out(self) -> LeftOut | None:
        """How often each training example is recognised by the others, in the mean over classes of two or more."""
        classes, pictures = class_numbers(self.posterior_.targets), self.input_.copies()
        left_out = self.leave_one_out() if pictures is None else self.leave_group_out(pictures)
        return LeftOut.of(self._left_out_values(left_out.mean), classes, pictures)

    def left_out_probabilities(self) -> Array | None:
        """Probabilities (n, c) of each training example left out in closed form; None without calibration."""
        classes = class_numbers(self.posterior_.targets)
        return self.calibration_.left_out_probabilities(self.leave_one_out().mean, classes) if self.calibrated else None

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Average several channels, or learn their weights by "evidence"."""
        self.set_params(weights=way)
        return self if prior is None else self.set_params(prior_weights=prior)

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts: `weights_`, so that they add up to 1."""
        check_is_fitted(self)
        return self.weights_ / self.weights_.sum()

    def found(self) -> dict[str, float]:
        """The noise variance."""
        check_is_fitted(self)
        return {"noise variance": self.noise_variance_}

    def doubts(self) -> tuple[str, ...]:
        """Whether there are labels enough to say what is unknown."""
        check_is_fitted(self)
        return self.novelty_.doubts

    def starting_weights(self, k: int) -> Array:
        """How much each of k Gram matrices counts before anything is learned about it; they add up to 1.

        Parameters
        ----------
        k : the number of Gram matrices, 1 or more.

        Returns
        -------
        array (k,)
            Numbers from 0 to 1 that add up to 1.
        """
        if self.prior_weights is not None:
            given = check_weights(self, self.prior_weights, k)
            return given / given.sum()
        kernels = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        channels = [kernel for kernel in kernels if isinstance(kernel, Channel)]
        return prior_shares(channels) if len(channels) == len(kernels) == k else np.full(k, 1.0 / k)

    # In the model file.

    def _learned(self) -> State:
        header = {
            "noise_variance": self.noise_variance_,
            "balanced": bool(self.balanced),
            "calibrated": bool(self.calibrated),
            "prototypes": bool(self.prototypes),
            "false_alarm_rate": float(self.false_alarm_rate),
            "asked": plain_options(self, ASKED),
        }
        loans, borrowed = self._loans_state()
        blended = [int(loan.blended) for loan in self.loans_.values()]
        state = State(
            {**header, "loans": loans, "loans_blended": blended}, {"weights": self.weights_, "borrowed": borrowed}
        )
        if not loans:
            state = State(header, {"weights": self.weights_})  # as a reader of the first version expects it
        state = state.join("posterior", self.posterior_.state())
        return state.join("calibration", self.calibration_.state()).join("novelty", self.novelty_.state())

    def _restore(self, state: State) -> None:
        self.balanced, self.calibrated = state.flag("balanced"), state.flag("calibrated")
        self.false_alarm_rate = state.number("false_alarm_rate", least=0.0, most=1.0)
        self.prototypes = "prototypes" in state and state.flag("prototypes")  # an earlier version had none
        self.calibration_ = Calibration.from_state(state.nested("calibration"))
        self.calibration_.check_classes(len(self.classes_))
        self.novelty_ = Novelty.from_state(state.nested("novelty"))
        self.unknown_rule = self.novelty_.rule
        self.posterior_ = Posterior.from_state(state.nested("posterior"))
        self.noise_variance_ = check_positive("model", "noise_variance", state.number("noise_variance"))
        self.noise_variance = self.noise_variance_
        self.weights_ = check_weights(
            self, state.array("weights", (len(self.input_.scales),), np.float64), len(self.input_.scales)
        )
        self.weights = self.weights_.tolist()
        check_sizes(self.posterior_, len(self.classes_), self.input_.n_training)
        loans = state.rows("loans", 3) if "loans" in state else []
        shape = (self.posterior_.n, len(loans))
        weights = state.array("borrowed", shape, np.float64) if loans else np.zeros(shape)
        blended = state.numbers("loans_blended", len(loans), least=0, most=1) if "loans_blended" in state else ()
        restore_asked(self, state, ASKED)
        self._given_noise(), self._given_weights(len(self.weights_)), self.starting_weights(len(self.weights_))
        check_choice(self, "unknown_rule", self.unknown_rule, [AUTO, *RULES])
        self._restore_loans(loans, weights, [value > 0 for value in blended] or [False] * len(loans))

    # Learning.

    def _check_flags(self) -> None:
        for name in ("balanced", "calibrated", "prototypes"):
            check_flag(self, name, getattr(self, name))

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        self._check_flags()
        targets = self._targets(targets_of(labels, self.classes_))
        self.weights_, self.noise_variance_ = self.weights_and_noise(grams, targets, self.input_.pictures)
        K = self._combined(grams)
        self.posterior_ = Posterior.condition(K, targets, self.noise_variance_)
        self.forget_loans()
        self._calibrate(K)

    def _look_at_unlabelled(self, X: Examples, positions: Indices) -> None:
        """With one or two labels of each class, see how sure to be."""
        if not self.calibrated or not can_tell(self.posterior_.n, len(positions), len(self.classes_)):
            return
        with_labelled, among = self.input_.beside(X, some_unlabelled(positions, len(self.classes_)))
        self.sharpen(self._combined(with_labelled), self._combined(among))

    def _targets(self, targets: Array) -> Array:
        """Balanced where that is wanted; classes of one size have +1 and -1."""
        return balanced_targets(targets) if self.balanced else targets

    def _rebalance(self) -> None:
        """Where classes are balanced, every label changes the targets of all; so that their order does not matter."""
        if not self.balanced:
            return
        posterior = self.posterior_
        targets = balanced_targets(posterior.targets)
        if np.ptp(posterior.noise_variance) > 0:  # a model file of an earlier version, which balanced by noise
            self.posterior_ = Posterior.condition(posterior.covariance(), targets, self.noise_variance_)
        else:
            self.posterior_ = posterior.relabel(np.arange(posterior.n), targets)

    def weights_and_noise(
        self, grams: Sequence[Array], targets: Array, pictures: Indices | None = None
    ) -> tuple[Array, float]:
        """As they are given, or learned from scaled Gram matrices of training examples and their targets (n, c).

        They are learned from the examples of the categories: what belongs to none says nothing about how categories differ.

        Parameters
        ----------
        grams : k scaled Gram matrices (n, n) of the training examples.
        targets : for each example and class (n, c), positive for its own and negative for all others.
        pictures : a number for each example (n,), the same for those that show the same picture; None if all differ.

        Returns
        -------
        array (k,), float
            The weights, >= 0, and the noise variance, > 0.
        """
        fixed, weights = self._given_noise(), self._given_weights(len(grams))
        inside = np.flatnonzero(class_numbers(targets) != NO_CLASS)
        if len(inside) < len(targets) and (fixed is None or weights is None):
            grams, targets = [gram[np.ix_(inside, inside)] for gram in grams], targets[inside]
            pictures = None if pictures is None else pictures[inside]
        targets, balanced = self._targets(targets), bool(self.balanced)
        if weights is None:
            prior = tuple(self.starting_weights(len(grams)).tolist())
            noise = self.noise_variance if fixed is None else fixed
            settings = SearchSettings(noise_variance=noise, prior=prior)
            found = combine(grams, targets, settings, pictures=pictures, balanced=balanced)
            return found.weights[0], float(found.noise[0])
        if fixed is not None:
            return weights, fixed
        K = grams[0] * weights[0] if len(grams) == 1 else weighted_sum(grams, weights)
        if self.noise_variance == "evidence":
            return weights, learn_noise(K, targets).level
        return weights, noise_by_left_out(K, targets, pictures, balanced=balanced)

    def _given_noise(self) -> float | None:
        """The noise variance that was given, or None for one that is learned."""
        if isinstance(self.noise_variance, str):
            check_choice(self, "noise_variance", self.noise_variance, ("left-out", "evidence"))
            return None
        return check_positive(self, "noise_variance", self.noise_variance)

    def _given_weights(self, count: int) -> Array | None:
        """Weights that need not be learned, or None."""
        if not isinstance(self.weights, str):
            return check_weights(self, self.weights, count)
        check_choice(self, "weights", self.weights, self.ways)
        return np.full(count, 1.0 / count) if self.weights == "average" or count == 1 else None

    def _calibrate(self, K: Array) -> None:
        """Predict every training example from those that are not in its fold, in closed form, and learn from that."""
        rule = check_choice(self, "unknown_rule", self.unknown_rule, [AUTO, *RULES])
        check_share(self, "false_alarm_rate", self.false_alarm_rate)
        self._check_flags()
        classes = class_numbers(self.posterior_.targets)
        outside = np.flatnonzero(classes == NO_CLASS)
        folds, kept = left_out_folds(K, classes, self.input_.pictures)
        left_out = leave_out(self.posterior_, folds, balanced=bool(self.balanced))
        mean = left_out.mean[kept]
        self.calibration_ = self._calibration(K, folds, kept) if self.calibrated else Calibration()
        known = self._signs(K, folds, mean, left_out.variance, kept)
        if rule == AUTO and len(kept) and (len(self.classes_) > 2 or len(outside)):
            strange = [self._signs_of_left_out_classes(K, classes)] if len(self.classes_) > 2 else []
            if len(outside):
                strange.append(self._signs(K, folds, left_out.mean[outside], left_out.variance, outside))
            candidates = (*CANDIDATES, *CANDIDATES_WITH_OUTSIDERS) if len(outside) else CANDIDATES
            rule = choose_rule(known, *strange, candidates=candidates)
        rule = COMBINED if rule == AUTO else rule
        n_classes = len(self.classes_)
        labels = (len(classes) - len(outside)) / max(n_classes, 1)
        self.novelty_ = fit_novelty(
            rule, known, float(self.false_alarm_rate), labels, n_classes=n_classes, with_outsiders=len(outside) > 0
        )

    def _calibration(self, K: Array, folds: Indices, kept: Indices) -> Calibration:
        """By the examples that are kept, predicted without their folds."""
        posterior = self.posterior_
        if posterior.n_targets < 2:
            return Calibration()
        noise = USUAL_NOISE * mean_diagonal(K)
        same = np.allclose(noise, posterior.noise_variance, rtol=1e-12, atol=0.0)
        usual = posterior if same else Posterior.condition(K, posterior.targets, noise)
        n_kernels = float(self.weights_.sum() ** 2 / (self.weights_**2).sum())
        return calibrate(
            [posterior],
            [usual],
            folds,
            kept,
            balanced=bool(self.balanced),
            n_kernels=n_kernels,
            with_prototypes=bool(self.prototypes),
        ).calibration

    def _signs(
        self, K: Array, folds: Indices, mean: Array, noisy: Array, kept: Indices, *, all_classes: bool = True
    ) -> Signs:
        """What speaks for novelty of training examples that were predicted without their folds.

        Not `all_classes`: the columns of `mean` are others for each example, so that prototypes cannot be compared with them.
        """
        variance = np.maximum(noisy - self.posterior_.noise_variance, 0.0)
        familiar, similarity = variance, None
        if not self._familiarity.is_whole:
            familiar, similarity = self._familiarity.of_left_out(K, folds)
        similarity = similarity_to_other_folds(K, folds) if similarity is None else similarity
        calibration = self.calibration_ if all_classes else self.calibration_.without_prototypes()
        probabilities = self._probabilities(mean, variance[kept], calibration)
        return Signs.of(mean, relative(familiar, K.diagonal())[kept], probabilities, similarity[kept])

    @property
    def _familiarity(self) -> Familiarity:
        """Of the posterior as it is now."""
        known = getattr(self, "_familiar", None)
        if known is None or known.whole is not self.posterior_:
            self._familiar = known = Familiarity.of(self.posterior_)
        return known

    def _signs_of_left_out_classes(self, K: Array, classes: Indices) -> Signs:
        """The same as if the class of each example, one of three or more, had never been learned."""
        inside = np.flatnonzero(classes != NO_CLASS)
        groups = classes - classes.min()  # those of no class, as one
        left_out = leave_out(self.posterior_, groups, balanced=bool(self.balanced))
        mean = without_own_class(left_out.mean[inside], classes[inside])
        return self._signs(K, classes, mean, left_out.variance, inside, all_classes=False)

    def _look(self, X: Examples) -> _Seen:
        """Everything the posterior says about new examples, which are read once."""
        rows = self._read(X)
        K_test = self._combined(self.input_.compare(rows))
        diagonal = np.tensordot(self.weights_, self.input_.diagonals(rows), axes=1)
        some = [slice(start, start + AT_A_TIME) for start in range(0, max(len(K_test), 1), AT_A_TIME)]
        parts = [self._seen(K_test[here], diagonal[here]) for here in some]
        return parts[0] if len(parts) == 1 else _Seen(*map(np.concatenate, zip(*map(astuple, parts), strict=True)))

    def _seen(self, K_test: Array, diagonal: Array) -> _Seen:
        """What kernel values with the training examples say, with several matrices of their size on the way."""
        mean, variance = self._means(K_test), self.posterior_.variance(K_test, diagonal)
        if self._familiarity.is_whole:
            familiar, similarity = variance, largest_cosine(K_test, diagonal, self.training_diagonal_)
        else:
            familiar, similarity = self._familiarity.of_new(K_test, diagonal)
        return _Seen(mean, variance, diagonal, familiar, similarity)

    @staticmethod
    def _latent(seen: _Seen) -> Latent:
        return Latent(seen.mean, np.repeat(np.sqrt(seen.variance)[:, None], seen.mean.shape[1], axis=1))

    def _probabilities(self, mean: Array, variance: Array, calibration: Calibration | None = None) -> Array:
        if self.calibrated:
            return (calibration or self.calibration_).probabilities(mean)
        return largest_probability(mean, np.sqrt(variance + self.noise_variance_))

    @property
    def training_diagonal_(self) -> Array:
        """Prior variance of each training example (n,)."""
        return self.posterior_.prior_variance

    def _combined(self, grams: Sequence[Array]) -> Array:
        if len(grams) == 1:
            return grams[0] if self.weights_[0] == 1.0 else self.weights_[0] * grams[0]
        return weighted_sum(grams, self.weights_)

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        return self.calibration_.values(self._means(self._combined(self.input_.compare(rows))))

    def _left_out_values(self, mean: Array) -> Array:
        """What decides about training examples that were left out, from their latent means (n, c)."""
        return self.calibration_.left_out_values(mean, class_numbers(self.posterior_.targets))
