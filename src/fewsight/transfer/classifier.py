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
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.support_search import Candidates

NO_NOISE = 1e-300  # in place of 0, which a posterior does not take; it changes no digit


class Considered(NamedTuple):
    """A support task, the best correlation for it, and the criterion there."""

    support: Label
    rho: float
    value: float


@final
class TransferGPClassifier(KernelLearner):
    """One category against a background, learned from few examples with the help of a support category.

    The target's and the support's functions are dependent Gaussian processes: examples of different tasks covary rho times as
    much as the kernel says. Labels in `fit` name the target, the background and the categories that may support it, of which only
    their own examples are used, all labelled +1: tasks share the background. Support and rho are chosen together, by what
    left-out examples of the target and the background say. With rho = 0 nothing is borrowed.

    Parameters
    ----------
    kernel : what X is, as for every learner.
    target : the label of the category to learn; None: of two labels, the one that sorts last.
    background : the label of examples that are of no category; None: there are none (with two labels and no target: the other).
    candidates : labels to choose the support from; None: all that are left. An empty list: learn without support.
    criterion : what the choice goes by: "average_precision", "roc_area", "predictive_probability", "squashed_probability" (all of
        left-out examples of the target and the background) or "conditional_likelihood".
    n_supports : how many support categories lend at once. Of several, the best by the criterion are taken and the correlation of
        each is learned by the evidence of the target's own examples, given the background and those of all supports.
    rho : the correlation, from 0 to 1; None to choose it too.
    noise_variance : on the targets, for kernels scaled to a mean diagonal of 1, or "adaptive": the least of 0, 1e-8, 1e-7, ...
        with which the covariance is positive definite.

    Attributes
    ----------
    classes_ : the background, if there is one, and the target.
    support_ : labels of the support categories that lend, best first; empty where nothing is borrowed.
    rho_ : a correlation for each of them.
    considered_ : every candidate with its best correlation and the criterion there, best first.
    noise_variance_ : the noise variance that is used.
    posterior_ : the posterior of the examples that are used. `rows_` says which of the training examples these are and `tasks_`
        whose: 0 for the target and the background, then a number for each support task.
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
    considered_: list[Considered]

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        target: Label | None = None,
        background: Label | None = None,
        candidates: Sequence[Label] | None = None,
        criterion: str = "average_precision",
        n_supports: int = 1,
        rho: float | None = None,
        noise_variance: float | str = "adaptive",
    ) -> None:
        self.kernel = kernel
        self.target = target
        self.background = background
        self.candidates = candidates
        self.criterion = criterion
        self.n_supports = n_supports
        self.rho = rho
        self.noise_variance = noise_variance

    def latent(self, X: Examples) -> Latent:
        """Posterior mean and standard deviation of each class; the background's mean is the target's with the other sign."""
        rows = self._read(X)
        K_test, diagonal = self._covariances(rows), np.mean(self.input_.diagonals(rows), axis=0)
        std = np.sqrt(self.posterior_.variance(K_test, diagonal))
        return Latent(self._columns(self.posterior_.mean(K_test)), np.repeat(std[:, None], len(self.classes_), axis=1))

    def predict_proba(self, X: Examples) -> Array:
        """The probability of each sign of the noisy target, by the posterior alone."""
        latent = self.latent(X)
        if len(self.classes_) == 1:
            return np.ones_like(latent.mean)
        return ndtr(latent.mean / np.sqrt(np.maximum(latent.std**2 + self.noise_variance_, NO_NOISE)))

    def decision_function(self, X: Examples) -> Array:
        """Posterior mean of the target's function (m,): what examples are ranked by. [Rodner2010, eq. 4]"""
        rows = self._read(X)
        return self.posterior_.mean(self._covariances(rows))[:, 0]

    def leave_one_out(self) -> LeaveOneOut:
        """Each example that is used, predicted from all others, in closed form. [Rodner2010, eq. 5 and 6]"""
        return self.posterior_.leave_one_out()

    def left_out(self) -> LeftOut | None:
        """How often each example of the target and the background is recognised by the others."""
        mean, own = self.leave_one_out().mean[self.tasks_ == 0], self.posterior_.targets[self.tasks_ == 0, 0] > 0
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
        state = State(header, {"rows": self.rows_, "tasks": self.tasks_, "rhos": self._rhos})
        return state.join("posterior", self.posterior_.state())

    def _restore(self, state: State) -> None:
        self._restore_options(state)
        header = state.header
        self.noise_variance_ = state.number("noise_variance", least=0.0)
        self.posterior_ = Posterior.from_state(state.nested("posterior"))
        self._rhos = state.array("rhos", (None,), np.float64, least=0.0, most=1.0)
        shape = (self.posterior_.n,)
        self.rows_ = state.array("rows", shape, np.intp, least=0, most=self.input_.n_training - 1)
        self.tasks_ = state.array("tasks", shape, np.intp, least=0, most=len(self._rhos))
        self.rho_ = self._rhos[self._rhos > 0]
        self.support_ = tuple(header["support"])
        self.considered_ = [
            Considered(name, float(rho), np.nan if value is None else float(value))
            for name, rho, value in header["considered"]
        ]
        self._check_restored()

    def _check_restored(self) -> None:
        """What came from a file, and may have been edited, fits together."""
        check_sizes(self.posterior_, 1, len(self.rows_))
        if len(self.rho_) != len(self.support_) or len(self.classes_) > 2:
            raise InvalidInput("there must be a correlation for each support, and at most two classes.")

    # Learning.

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        criterion = check_choice(self, "criterion", self.criterion, CRITERIA)
        n_supports = check_integer(self, "n_supports", self.n_supports, least=1)
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
        ranking, self.noise_variance_ = tasks.rank(criterion, self._fixed_noise(), rho)
        order = ranking.order()
        self.considered_ = [Considered(names[i], float(ranking.rho[i]), float(ranking.value[i])) for i in order]
        chosen = [i for i in order[:n_supports] if ranking.rho[i] > 0]
        lent = self._condition(tasks, chosen, ranking.rho[chosen] if n_supports == 1 or rho is not None else None)
        self.support_ = tuple(names[i] for i, some in zip(chosen, lent > 0, strict=True) if some)
        self.rho_ = lent[lent > 0]

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
        return K_test * task_factors(np.zeros(1, np.intp), self.tasks_, self._rhos)

    def _columns(self, mean: Array) -> Array:
        return mean if len(self.classes_) == 1 else np.hstack([-mean, mean])

    def _decide(self, X: Examples) -> Array:
        return self._columns(self.decision_function(X)[:, None])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.target is not None
        return tags
