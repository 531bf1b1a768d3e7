"""Support vector machines, one against all or for each pair, by LIBSVM through scikit-learn. [Kapoor2010, section 8]"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from fewsight._base.checks import check_choice, check_positive
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array, Indices, State
from fewsight.learners.baseline import DualLearner, averaged
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.labels import NO_CLASS, Labels, targets_of

PENALTIES = tuple(2.0**exponent for exponent in range(-7, 10, 2))  # that cross-validation tries [Holub2008, section 4]
FOLDS = 10
CROSS_VALIDATED = "cross_validated"
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
    n_jobs : machines trained at the same time, as in joblib.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    C_ : the C that is used.
    dual_weights_ : (n, n_machines), what each training example counts in each machine.
    intercepts_ : (n_machines,), what is added in each machine.
    """

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "SVM"
    note: ClassVar[str] = "support vector machines, one against all."
    learns_none_of_these: ClassVar[bool] = True

    C_: float  # as given, or as it was chosen

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        C: float | str = 10_000.0,
        multiclass: str = "one_vs_all",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.multiclass = multiclass
        self.n_jobs = n_jobs

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        chosen = self._penalty()
        targets = self._machine_targets(labels)
        K = averaged(grams)
        self.C_ = self._cross_validated(K, labels) if chosen is None else chosen
        results = map_pieces(
            lambda column: _machine(K, column, self.C_),
            list(targets.T),
            n_jobs=self.n_jobs,
            what="support vector machines",
        )
        self.dual_weights_ = np.stack([dual for dual, _ in results], axis=1) if results else np.zeros((len(K), 0))
        self.intercepts_ = np.array([intercept for _, intercept in results])

    def _decide(self, X: Examples) -> Array:
        return self._values(super()._decide(X))

    def _penalty(self) -> float | None:
        """The option; None: it is to be chosen."""
        check_choice(self, "multiclass", self.multiclass, MULTICLASS)
        if isinstance(self.C, str):
            check_choice(self, "C", self.C, (CROSS_VALIDATED,))
            return None
        return check_positive(self, "C", self.C)

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

    def _cross_validated(self, K: Array, labels: Labels) -> float:
        """The penalty under which most examples are predicted by the others; examples of no class are not predicted."""
        own, targets = targets_of(labels, self.classes_), self._machine_targets(labels)
        classes = np.where(own.max(axis=1) > 0, own.argmax(axis=1), NO_CLASS)
        folds = _folds(classes)
        right = np.zeros(len(PENALTIES))
        for fold in range(folds.max() + 1):
            out, rest = folds == fold, folds != fold
            asked = out & (classes >= 0)
            for number, C in enumerate(PENALTIES):
                found = [_machine(K[np.ix_(rest, rest)], column[rest], C) for column in targets.T]
                margins = [K[np.ix_(asked, rest)] @ dual + bias for dual, bias in found]
                values = self._values(np.reshape(margins, (len(found), asked.sum())).T)
                right[number] += (values.argmax(axis=1) == classes[asked]).sum()
        return PENALTIES[int(right.argmax())]

    def _learned(self) -> State:
        state = super()._learned()
        return State({**state.header, "C": self.C_}, state.arrays)

    def _restore(self, state: State) -> None:
        """A file from before there was a choice holds machines against all others."""
        options = state.header["options"]
        if isinstance(options, dict):
            state.header["options"] = {"multiclass": "one_vs_all", **options}
        self._restore_options(state)
        self._penalty()
        n, machines = self.input_.n_training, len(self.classes_)
        if self.multiclass == "one_vs_one":
            machines = len(self._pairs())
        self.C_ = state.number("C", least=0) if "C" in state else float(self.C)
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


def _folds(classes: Indices) -> Indices:
    """A fold for each example: every class is spread over at most FOLDS of them, in the order of its examples."""
    folds = np.zeros(len(classes), np.intp)
    for number in np.unique(classes):
        members = np.flatnonzero(classes == number)
        folds[members] = np.arange(len(members)) % min(FOLDS, max(2, len(classes)))
    return folds
