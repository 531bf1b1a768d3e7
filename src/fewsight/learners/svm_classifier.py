"""Support vector machines, one against all or for each pair, by LIBSVM through scikit-learn. [Kapoor2010, section 8]"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_positive
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array, Indices, State
from fewsight.learners.baseline import DualLearner, averaged, squared_distances
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.labels import NO_CLASS, Labels, targets_of

PENALTIES = tuple(2.0**exponent for exponent in range(-7, 10, 2))  # that cross-validation tries [Holub2008, section 4]
GAMMAS = tuple(2.0**exponent for exponent in range(-8, 1))  # likewise; LIBSVM's name for what the paper calls sigma
FOLDS = 10
CROSS_VALIDATED = "cross_validated"
MOST_GAMMA, MOST_LENGTH = 1e12, 1e12  # of a model file
MULTICLASS = ("one_vs_all", "one_vs_one")


class SVMClassifier(DualLearner):
    """One support vector machine for each class against all others, or for each pair of classes.

    Of machines against all others the largest margin decides; of pairs the number of votes, and among equals the sum of margins.
    `latent` gives margins or votes; `predict_proba` is a softmax of them and is not calibrated.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them;
        several are averaged.
    C : penalty of a training error, for a kernel whose training diagonal has mean 1; or "cross_validated": that of
        2^-7, 2^-5, ..., 2^9 that predicts most of the training examples in ten folds, the smallest of equals.
    multiclass : "one_vs_all" or "one_vs_one".
    gamma : None compares examples by the kernel itself. A number g compares them by exp(-g d^2), where d is the distance in the
        space that the kernel spans, for a training diagonal of mean 1: a linear kernel becomes a Gaussian of the rows.
        "cross_validated": that of 2^-8, 2^-7, ..., 2^0 that predicts most of the training examples in ten folds, with C where
        that is chosen too; the smallest of equals. Of Gram matrices that the user brings, new examples are taken to have the
        mean value with themselves.
    n_jobs : machines trained at the same time, as in joblib.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    C_ : the C that is used.
    dual_weights_ : (n, n_machines), what each training example counts in each machine.
    intercepts_ : (n_machines,), what is added in each machine.
    gamma_ : the gamma that is used; None without one.
    lengths_ : (n,), kernel values of training examples with themselves, where there is a gamma; else None.
    """

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "SVM"
    note: ClassVar[str] = "support vector machines, one against all."
    learns_none_of_these: ClassVar[bool] = True

    C_: float  # as given, or as it was chosen
    gamma_: float | None  # likewise
    lengths_: Array | None  # (n,), kernel values of training examples with themselves, where there is a gamma

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        C: float | str = 10_000.0,
        multiclass: str = "one_vs_all",
        gamma: float | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.multiclass = multiclass
        self.gamma = gamma
        self.n_jobs = n_jobs

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        penalties, gammas = self._candidates()
        targets = self._machine_targets(labels)
        K = averaged(grams)
        self.lengths_ = None if gammas is None else K.diagonal().copy()
        squared = None if self.lengths_ is None else squared_distances(K, self.lengths_, self.lengths_)
        self.C_, self.gamma_ = self._chosen(K, squared, labels, penalties, gammas)
        K = K if squared is None else np.exp(-float(self.gamma_ or 0.0) * squared)
        results = map_pieces(
            lambda column: _machine(K, column, self.C_),
            list(targets.T),
            n_jobs=self.n_jobs,
            what="support vector machines",
        )
        self.dual_weights_ = np.stack([dual for dual, _ in results], axis=1) if results else np.zeros((len(K), 0))
        self.intercepts_ = np.array([intercept for _, intercept in results])

    def _decide(self, X: Examples) -> Array:
        check_is_fitted(self)
        if self.lengths_ is None or self.gamma_ is None:
            return self._values(super()._decide(X))
        rows = self._read(X)
        lengths = averaged(self.input_.diagonals(rows))
        squared = squared_distances(averaged(self.input_.compare(rows)), lengths, self.lengths_)
        return self._values(np.exp(-self.gamma_ * squared) @ self.dual_weights_ + self.intercepts_)

    def found(self) -> dict[str, float]:
        """What cross-validation chose."""
        check_is_fitted(self)
        found = {"C": self.C_} if isinstance(self.C, str) else {}
        return {**found, "gamma": self.gamma_} if isinstance(self.gamma, str) and self.gamma_ is not None else found

    def _candidates(self) -> tuple[tuple[float, ...], tuple[float, ...] | None]:
        """Penalties and gammas to choose from, of which there may be one; None for no Gaussian."""
        check_choice(self, "multiclass", self.multiclass, MULTICLASS)
        penalties = self._candidates_of("C", self.C, PENALTIES)
        return penalties, None if self.gamma is None else self._candidates_of("gamma", self.gamma, GAMMAS)

    def _candidates_of(self, name: str, value: float | str, grid: tuple[float, ...]) -> tuple[float, ...]:
        if isinstance(value, str):
            check_choice(self, name, value, (CROSS_VALIDATED,))
            return grid
        return (check_positive(self, name, value),)

    def _pairs(self) -> list[tuple[int, int]]:
        """The classes of each machine, where there is one for each pair."""
        return list(itertools.combinations(range(len(self.classes_)), 2))

    def _machine_targets(self, labels: Labels) -> Array:
        """+1, -1 or, where an example plays no part, 0: a column for each machine."""
        targets = targets_of(labels, self.classes_)
        if self.multiclass == "one_vs_all":
            return targets
        columns = [np.where(targets[:, i] > 0, 1.0, np.where(targets[:, j] > 0, -1.0, 0.0)) for i, j in self._pairs()]
        return np.stack(columns, axis=1) if columns else np.zeros((len(labels), 0))

    def _values(self, margins: Array) -> Array:
        """What decides (m, c), from the margins of all machines."""
        if self.multiclass == "one_vs_all":
            return margins
        votes = np.zeros((len(margins), len(self.classes_)))
        for margin, (i, j) in zip(margins.T, self._pairs(), strict=True):
            # A vote, and far less than a vote for its margin.
            share = 1e-3 / len(self.classes_) * np.tanh(margin)
            votes[:, i] += (margin > 0) + share
            votes[:, j] += (margin <= 0) - share
        return votes

    def _chosen(
        self,
        K: Array,
        squared: Array | None,
        labels: Labels,
        penalties: tuple[float, ...],
        gammas: tuple[float, ...] | None,
    ) -> tuple[float, float | None]:
        """The penalty and the gamma under which most examples are predicted by the others."""
        if gammas is None or squared is None:
            right = self._predicted(K, labels, penalties) if len(penalties) > 1 else np.zeros(1)
            return penalties[int(right.argmax())], None
        if len(penalties) == len(gammas) == 1:
            return penalties[0], gammas[0]
        counts = map_pieces(
            lambda gamma: self._predicted(np.exp(-gamma * squared), labels, penalties),
            list(gammas),
            n_jobs=self.n_jobs,
            what="widths",
        )
        row, column = np.unravel_index(int(np.argmax(counts)), (len(gammas), len(penalties)))
        return penalties[column], gammas[row]

    def _predicted(self, K: Array, labels: Labels, penalties: tuple[float, ...]) -> Array:
        """How many examples the others predict rightly under each penalty; examples of no class are not asked about."""
        own, targets = targets_of(labels, self.classes_), self._machine_targets(labels)
        classes = np.where(own.max(axis=1) > 0, own.argmax(axis=1), NO_CLASS)
        folds = stratified_folds(classes)
        right = np.zeros(len(penalties))
        for fold in range(folds.max() + 1):
            out, rest = folds == fold, folds != fold
            asked = out & (classes >= 0)
            for number, C in enumerate(penalties):
                found = [_machine(K[np.ix_(rest, rest)], column[rest], C) for column in targets.T]
                margins = [K[np.ix_(asked, rest)] @ dual + bias for dual, bias in found]
                values = self._values(np.reshape(margins, (len(found), asked.sum())).T)
                right[number] += (values.argmax(axis=1) == classes[asked]).sum()
        return right

    def _learned(self) -> State:
        state = super()._learned()
        if self.lengths_ is None:
            return State({**state.header, "C": self.C_}, state.arrays)
        return State({**state.header, "C": self.C_, "gamma": self.gamma_}, {**state.arrays, "lengths": self.lengths_})

    def _restore(self, state: State) -> None:
        """A file from before there was a choice holds machines against all others."""
        options = state.header["options"]
        if isinstance(options, dict):
            state.header["options"] = {"multiclass": "one_vs_all", "gamma": None, **options}
        self._restore_options(state)
        self._candidates()
        n, machines = self.input_.n_training, len(self.classes_)
        if self.multiclass == "one_vs_one":
            machines = len(self._pairs())
        self.C_ = state.number("C", least=0) if "C" in state else float(self.C)
        self.gamma_ = self.lengths_ = None
        if self.gamma is not None:
            self.gamma_ = state.number("gamma", least=0, most=MOST_GAMMA)
            self.lengths_ = state.array("lengths", (n,), np.float64, least=0, most=MOST_LENGTH)
        self.dual_weights_ = state.array("dual_weights", (n, machines), np.float64)
        self.intercepts_ = state.array("intercepts", (machines,), np.float64)


def _machine(K: Array, targets: Array, C: float) -> tuple[Array, float]:
    """Dual weights and intercept of one machine; examples with the target 0 have no weight."""
    dual, known = np.zeros(len(K)), np.flatnonzero(targets)
    if not len(known) or (targets[known] == targets[known[0]]).all():
        return dual, float(targets[known[0]]) if len(known) else 0.0
    machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(known, known)], targets[known].astype(int))
    dual[known[machine.support_]] = machine.dual_coef_[0]
    return dual, float(machine.intercept_[0])


def stratified_folds(classes: Indices) -> Indices:
    """A fold for each example: every class is spread over at most FOLDS of them, in the order of its examples."""
    folds = np.zeros(len(classes), np.intp)
    for number in np.unique(classes):
        members = np.flatnonzero(classes == number)
        folds[members] = np.arange(len(members)) % min(FOLDS, max(2, len(classes)))
    return folds
