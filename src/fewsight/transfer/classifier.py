"""A category from a few images, with what a related category lends it. [Rodner2010]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from scipy.special import ndtr
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_integer, check_number, check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import (
    LeaveOneOut,
    Posterior,
    learn_correlations,
    least_noise,
    mean_of,
    task_covariance,
    task_factors,
)
from fewsight.learners import KernelLearner, Latent, LeftOut
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.kernel_learner import check_sizes
from fewsight.learners.labels import Label, Labels
from fewsight.transfer.averaging import LOG_WEIGHTS
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.support_search import Candidates

LARGEST_OFFSET = 1e6
NO_NOISE = 1e-300  # in place of 0, which a posterior does not take; it changes no digit


class Considered(NamedTuple):
    """A support task, the best correlation for it, and the criterion there."""

    support: Label
    rho: float
    value: float


class Averaged(NamedTuple):
    """What kernel values with the examples that are used are multiplied by (n,), and those of the target and the background
    when each is left out."""

    weights: Array
    left_out: LeaveOneOut


@final
class TransferGPClassifier(KernelLearner):
    """One category against a background, learned from few examples with the help of a support category.

    The target's and the support's functions are dependent Gaussian processes: examples of different tasks covary rho times as
    much as the kernel says. Labels in `fit` name the target, the background and the categories that may support it, of which only
    their own examples are used, all labelled +1: tasks share the background. What all of them lend is averaged, each support and
    rho with a weight that left-out examples of the target and the background give it. With rho = 0 nothing is borrowed.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them.
    target : the label of the category to learn; None: of two labels, the one that sorts last.
    background : the label of examples that are of no category; None: there are none (with two labels and no target: the other).
    candidates : labels to choose the support from; None: all that are left. An empty list: learn without support.
    criterion : what the choice goes by: "separation", "average_precision", "roc_area", "predictive_probability",
        "squashed_probability" (all of left-out examples of the target and the background) or "conditional_likelihood".
    n_supports : "all" averages over all support categories and correlations, each weighted by the criterion, which must then be
        "separation", "predictive_probability" or "conditional_likelihood"; with fewer than two examples of a background to
        separate from, the second of these is taken for the first. A number is how many lend at once: the best by the criterion
        are taken, and if there are several the correlation of each is learned by the evidence of the target's own examples,
        given all others.
    rho : the correlation, from 0 to 1; None to choose it, or to average over it, too.
    offset : what is taken off the posterior mean: a number, or "left-out" for the midpoint between the mean left-out value of
        the target's examples and that of the background's. A mean of zero leans to the side with more examples.
    noise_variance : on the targets, for kernels scaled to a mean diagonal of 1, or "adaptive": the least of 0, 1e-8, 1e-7, ...
        with which the covariance is positive definite.

    Attributes
    ----------
    classes_ : (2,) or (1,), the background, if there is one, and the target.
    support_ : labels of the support categories that lend, best first; empty where nothing is borrowed.
    rho_ : (n_support,), a correlation for each of them; in an average its mean.
    shares_ : (n_support,), the part of each of them in an average, where what is left is learning alone; otherwise 1 for each.
    offset_ : what is taken off the posterior mean.
    considered_ : every candidate with its best correlation and the criterion there, best first.
    noise_variance_ : the noise variance that is used.
    posterior_ : the posterior of the examples that are used; of an average that of the target and the background alone, whose
        variance is never smaller.
    rows_ : (n_used,), which of the training examples are used.
    tasks_ : (n_used,), whose they are: 0 for the target and the background, then a number for each support task.
    """

    name: ClassVar[str] = "transfer_gp"
    title: ClassVar[str] = "Transfer GP"
    note: ClassVar[str] = "a Gaussian process classifier of one category that borrows from others."

    posterior_: Posterior
    noise_variance_: float
    rows_: Indices
    tasks_: Indices
    support_: tuple[Label, ...]
    rho_: Array
    shares_: Array
    offset_: float
    considered_: list[Considered]
    _averaged: Averaged | None

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        target: Label | None = None,
        background: Label | None = None,
        candidates: Sequence[Label] | None = None,
        criterion: str = "separation",
        n_supports: int | str = "all",
        rho: float | None = None,
        offset: float | str = "left-out",
        noise_variance: float | str = "adaptive",
    ) -> None:
        self.kernel = kernel
        self.target = target
        self.background = background
        self.candidates = candidates
        self.criterion = criterion
        self.n_supports = n_supports
        self.rho = rho
        self.offset = offset
        self.noise_variance = noise_variance

    def latent(self, X: Examples) -> Latent:
        """Posterior mean less the offset, and standard deviation; the background's mean is the target's with the other sign."""
        rows = self._read(X)
        K_test, diagonal = self._covariances(rows), np.mean(self.input_.diagonals(rows), axis=0)
        own = K_test if self._averaged is None else K_test[:, self.tasks_ == 0]
        std = np.sqrt(self.posterior_.variance(own, diagonal))
        return Latent(self._columns(self._mean(K_test)), np.repeat(std[:, None], len(self.classes_), axis=1))

    def predict_proba(self, X: Examples) -> Array:
        """The probability of each sign of the noisy target, by the posterior alone."""
        latent = self.latent(X)
        if len(self.classes_) == 1:
            return np.ones_like(latent.mean)
        return ndtr(latent.mean / np.sqrt(np.maximum(latent.std**2 + self.noise_variance_, NO_NOISE)))

    def decision_function(self, X: Examples) -> Array:
        """Posterior mean of the target's function less the offset (m,): what examples are ranked by. [Rodner2010, eq. 4]

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        array (m,)
            Any numbers; higher for what is more like the target.
        """
        rows = self._read(X)
        return self._mean(self._covariances(rows))[:, 0]

    def leave_one_out(self) -> LeaveOneOut:
        """Each example that is used, predicted from all others, in closed form. [Rodner2010, eq. 5 and 6]

        Of an average only the examples of the target and the background; weights and offset are those of all examples.
        """
        found = self.posterior_.leave_one_out() if self._averaged is None else self._averaged.left_out
        return LeaveOneOut(found.mean - self.offset_, found.variance)

    def left_out(self) -> LeftOut | None:
        """How often each example of the target and the background is recognised by the others."""
        n = int((self.tasks_ == 0).sum())  # they come first
        mean, own = self.leave_one_out().mean[:n], self.posterior_.targets[:n, 0] > 0
        return LeftOut.of(self._columns(mean), own.astype(np.intp)) if len(self.classes_) > 1 else None

    def found(self) -> dict[str, float]:
        """The noise variance."""
        check_is_fitted(self)
        return {"noise variance": self.noise_variance_}

    # In the model file.

    def _options(self) -> dict[str, Any]:
        candidates = None if self.candidates is None else np.asarray(self.candidates).tolist()
        return {**super()._options(), "candidates": candidates}

    def _learned(self) -> State:
        header = {
            "options": self._options(),
            "noise_variance": self.noise_variance_,
            "support": list(self.support_),
            "considered": [[name, rho, value if np.isfinite(value) else None] for name, rho, value in self.considered_],
        }
        arrays = {"rows": self.rows_, "tasks": self.tasks_, "rhos": self._rhos, "shares": self.shares_}
        if self._averaged is not None:
            left_out = self._averaged.left_out
            arrays |= {
                "weights": self._averaged.weights,
                "left_out_mean": left_out.mean,
                "left_out_variance": left_out.variance,
            }
        state = State({**header, "offset": self.offset_}, arrays)
        return state.join("posterior", self.posterior_.state())

    def _restore(self, state: State) -> None:
        state = _with_options_of_today(state)
        self._restore_options(state)
        header = state.header
        self.noise_variance_ = state.number("noise_variance", least=0.0)
        self.posterior_ = Posterior.from_state(state.nested("posterior"))
        self._rhos = state.array("rhos", (None,), np.float64, least=0.0, most=1.0)
        self.rows_ = state.array("rows", (None,), np.intp, least=0, most=self.input_.n_training - 1)
        self.tasks_ = state.array("tasks", self.rows_.shape, np.intp, least=0, most=len(self._rhos))
        self.rho_ = self._rhos[self._rhos > 0]
        self.offset_ = state.number("offset")
        self.shares_ = np.ones(len(self.rho_))
        if "shares" in state.arrays:
            self.shares_ = state.array("shares", self.rho_.shape, np.float64, least=0.0, most=1.0)
        self._averaged = None
        if "weights" in state.arrays:
            mean = state.array("left_out_mean", (None, 1), np.float64)
            variance = state.array("left_out_variance", (len(mean),), np.float64, least=0.0)
            weights = state.array("weights", self.rows_.shape, np.float64)
            self._averaged = Averaged(weights, LeaveOneOut(mean, variance))
        self.support_ = tuple(header["support"])
        self.considered_ = [
            Considered(name, float(rho), np.nan if value is None else float(value))
            for name, rho, value in header["considered"]
        ]
        self._check_restored()

    def _check_restored(self) -> None:
        """What came from a file, and may have been edited, fits together."""
        own = int((self.tasks_ == 0).sum())
        check_sizes(self.posterior_, 1, len(self.rows_) if self._averaged is None else own)
        left_out = own if self._averaged is None else len(self._averaged.left_out.mean)
        if self.tasks_[:own].any() or left_out != own:
            raise InvalidInput("the examples of the target and the background must come first, each left out once.")
        if len(self.rho_) != len(self.support_) or len(self.classes_) > 2:
            raise InvalidInput("there must be a correlation for each support, and at most two classes.")

    # Learning.

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        criterion = check_choice(self, "criterion", self.criterion, CRITERIA)
        n_supports = self._checked_supports(criterion)
        rho = None if self.rho is None else check_number(self, "rho", self.rho, least=0.0, most=1.0)
        target, background, names = self._roles(labels)
        self.classes_ = np.array([target] if background is None else [background, target])
        own, against = np.flatnonzero(labels == target), np.flatnonzero(labels == background)
        tasks = Candidates(
            mean_of(grams),
            np.concatenate([own, against]),
            np.concatenate([np.ones(len(own)), -np.ones(len(against))]),
            [np.flatnonzero(labels == name) for name in names],
        )
        if n_supports is None and names:
            nothing_to_separate_from = criterion == "separation" and len(against) < 2
            self._average(tasks, names, "predictive_probability" if nothing_to_separate_from else criterion, rho)
        else:
            self._take_best(tasks, names, criterion, n_supports or 1, rho)
        self.offset_ = 0.0
        self.offset_ = self._found_offset()

    def _average(self, tasks: Candidates, names: list[Label], criterion: str, rho: float | None) -> None:
        """What all candidates lend, each as much as its weight."""
        found, self.noise_variance_ = tasks.average(criterion, self._fixed_noise(), rho)
        self.considered_ = [
            Considered(names[i], float(found.best_rho[i]), float(found.value[i]))
            for i in np.argsort(-found.value, kind="stable")
        ]
        order = [i for i in np.argsort(-found.shares, kind="stable") if found.shares[i] > 0]
        K = tasks.K[np.ix_(tasks.target, tasks.target)]
        self.posterior_ = Posterior.condition(K, tasks.targets[:, None], max(self.noise_variance_, NO_NOISE))
        sizes = [len(tasks.target), *(len(tasks.supports[i]) for i in order)]
        self.rows_ = np.concatenate([tasks.target, *(tasks.supports[i] for i in order)])
        self.tasks_ = np.repeat(np.arange(len(order) + 1), sizes)
        self._rhos = self.rho_ = found.rho[order]
        self.support_ = tuple(names[i] for i in order)
        self.shares_ = found.shares[order]
        left_out = LeaveOneOut(found.left_out.mean[:, None], found.left_out.variance)
        self._averaged = Averaged(np.concatenate([found.own, *(found.lent[i] for i in order)]), left_out)

    def _take_best(
        self, tasks: Candidates, names: list[Label], criterion: str, n_supports: int, rho: float | None
    ) -> None:
        """The best candidates lend, with correlations that the criterion or the evidence chose."""
        ranking, self.noise_variance_ = tasks.rank(criterion, self._fixed_noise(), rho)
        order = ranking.order()
        self.considered_ = [Considered(names[i], float(ranking.rho[i]), float(ranking.value[i])) for i in order]
        self._averaged = None
        chosen = [i for i in order[:n_supports] if ranking.rho[i] > 0]
        lent = self._condition(tasks, chosen, ranking.rho[chosen] if n_supports == 1 or rho is not None else None)
        self.support_ = tuple(names[i] for i, some in zip(chosen, lent > 0, strict=True) if some)
        self.rho_ = lent[lent > 0]
        self.shares_ = np.ones(len(self.rho_))

    def _found_offset(self) -> float:
        """The number that was given, or the midpoint of the left-out means of both sides, as far as there are two."""
        if not isinstance(self.offset, str):
            return check_number(self, "offset", self.offset, least=-LARGEST_OFFSET, most=LARGEST_OFFSET)
        check_choice(self, "offset", self.offset, ["left-out"])
        n = int((self.tasks_ == 0).sum())
        mean, positive = self.leave_one_out().mean[:n, 0], self.posterior_.targets[:n, 0] > 0
        if positive.all() or not positive.any():
            return 0.0
        return float((mean[positive].mean() + mean[~positive].mean()) / 2)

    def _checked_supports(self, criterion: str) -> int | None:
        """How many lend at once; None for an average over all."""
        if not isinstance(self.n_supports, str):
            return check_integer(self, "n_supports", self.n_supports, least=1)
        check_choice(self, "n_supports", self.n_supports, ["all"])
        if criterion not in LOG_WEIGHTS:
            raise InvalidInput(
                f"TransferGPClassifier: criterion must be one of {', '.join(map(repr, LOG_WEIGHTS))} to average by, got "
                f"{criterion!r}; with n_supports=1 the best support category is taken by any criterion."
            )
        return None

    def _condition(self, tasks: Candidates, chosen: list[int], rhos: Array | None) -> Array:
        """The posterior with these support tasks, and their correlations: those given, or learned by evidence."""
        supports = [tasks.supports[i] for i in chosen]
        self.rows_ = np.concatenate([tasks.target, *supports])
        self.tasks_ = np.repeat(np.arange(len(supports) + 1), [len(tasks.target), *map(len, supports)])
        targets = np.concatenate([tasks.targets, np.ones(len(self.rows_) - len(tasks.target))])
        K = tasks.K[np.ix_(self.rows_, self.rows_)]
        if self._fixed_noise() is None:
            self.noise_variance_ = max(self.noise_variance_, least_noise(K))
        noise = max(self.noise_variance_, NO_NOISE)
        if rhos is None:
            given = (self.tasks_ > 0) | (targets < 0)
            rhos = learn_correlations(K, self.tasks_, targets, noise, given).correlations
        self._rhos = rhos
        self.posterior_ = Posterior.condition(task_covariance(K, self.tasks_, self._rhos), targets[:, None], noise)
        return self._rhos

    def _roles(self, labels: Labels) -> tuple[Label, Label | None, list[Label]]:
        """The target, the background if there is one, and the candidates."""
        classes = np.unique(labels).tolist()
        if self.target is None and len(classes) > 2:
            raise InvalidInput(
                "TransferGPClassifier: Only binary classification is supported where no target is named, got "
                f"{len(classes)} labels; name a target, and a background if there is one."
            )
        target = classes[-1] if self.target is None else self.target
        background = self.background
        if self.target is None and background is None and len(classes) == 2:
            background = classes[0]
        left = [name for name in classes if name not in (target, background)]
        if isinstance(self.candidates, str):
            raise InvalidInput(
                f"TransferGPClassifier: candidates must be a list of labels or None, got {shown(self.candidates)}."
            )
        candidates = left if self.candidates is None else list(self.candidates)
        for what, names, known in (
            ("target", [target], classes),
            ("background", [] if background is None else [background], [name for name in classes if name != target]),
            ("candidates", candidates, left),
        ):
            unknown = [name for name in names if name not in known]
            if unknown:
                raise InvalidInput(
                    f"TransferGPClassifier: {what} must be among the labels of the examples and play one part only, "
                    f"got {shown(unknown[0])}."
                )
        return target, background, candidates

    def _fixed_noise(self) -> float | None:
        """The noise variance that was given, or None for one that is found."""
        if isinstance(self.noise_variance, str):
            check_choice(self, "noise_variance", self.noise_variance, ["adaptive"])
            return None
        return check_positive(self, "noise_variance", self.noise_variance)

    def _covariances(self, rows: Any) -> Array:
        """Of the target's function at new examples with what was observed (m, rows_)."""
        K_test = mean_of(self.input_.compare(rows))[:, self.rows_]
        if self._averaged is not None:  # its weights know the correlations
            return K_test
        return K_test * task_factors(np.zeros(1, np.intp), self.tasks_, self._rhos)

    def _mean(self, K_test: Array) -> Array:
        """Of the target's function, less the offset (m, 1)."""
        if self._averaged is None:
            return self.posterior_.mean(K_test) - self.offset_
        return (K_test @ self._averaged.weights)[:, None] - self.offset_

    def _columns(self, mean: Array) -> Array:
        return mean if len(self.classes_) == 1 else np.hstack([-mean, mean])

    def _decide(self, X: Examples) -> Array:
        return self._columns(self.decision_function(X)[:, None])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.target is not None
        return tags


def _with_options_of_today(state: State) -> State:
    """A file from before there was an offset: its decisions are at zero, and one support lends."""
    options = state.header["options"]
    if not isinstance(options, dict) or "offset" in options:
        return state
    return State({**state.header, "offset": 0.0, "options": {**options, "offset": 0.0}}, state.arrays)
