"""What learners have in common that are support vector machines with learned kernel weights. [Gehler2009]"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_number, check_positive, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Windows
from fewsight.gp import Grams, as_grams
from fewsight.kernels import Kernel, Scaled, Sum
from fewsight.learners.base import Assessment, Latent
from fewsight.learners.calibration import Calibration, fit_calibration
from fewsight.learners.examples import Examples
from fewsight.learners.folds import left_out_folds
from fewsight.learners.inputs import kernels_of_rows
from fewsight.learners.kernel_learner import KernelLearner
from fewsight.learners.labels import Labels, targets_of
from fewsight.learners.mkl import Task, Weighted

FOLD_GAP = 1e-3  # of machines that see all examples but a fold
MOST_GAP = 0.5
TASKS_AT_A_TIME = 16  # whose weighted sums are made in one pass over the Gram matrices


class WeightedMachines(KernelLearner):
    """One support vector machine for each class against all others, each with kernel weights of its own.

    Two classes are one problem. Examples that are left out, with the weights as they are, teach how margins become
    probabilities. Kernels without weight are forgotten once the weights are known, also by the model file; of Gram matrices that
    the user brings, all stay.
    """

    ways: ClassVar[tuple[str, ...]] = ("l1",)

    C: float
    gap: float

    weights_: Array  # (c, k)
    dual_weights_: Array  # (n, c)
    intercepts_: Array  # (c,)
    gaps_: Array  # (c,)
    chosen_: Indices  # (k,), the numbers of the kernels that are kept, among all there were
    calibration_: Calibration

    @abstractmethod
    def _weigh(self, grams: Grams, tasks: Sequence[Task], gap: float) -> tuple[Grams, list[Weighted]]:
        """Learn the weights of each task; the Gram matrices are those given, or those and more."""

    def latent(self, X: Examples) -> Latent:
        """Margins. Such a learner states no uncertainty: the standard deviations are zero."""
        return self.assess(X).latent

    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, given that it is one of them; calibrated on left-out training examples."""
        margins = self._decide(X)
        return self.calibration_.probabilities(margins)

    def assess(self, X: Examples) -> Assessment:
        """Margins and probabilities, reading X once."""
        margins = self._decide(X)
        return Assessment(Latent(margins, np.zeros_like(margins)), self.calibration_.probabilities(margins))

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts, in the mean over the classes."""
        check_is_fitted(self)
        totals = self.weights_.sum(axis=1, keepdims=True)
        return (self.weights_ / np.where(totals > 0, totals, 1.0)).mean(axis=0)

    def chosen_channel(self) -> Windows:
        """What was chosen as one channel: all windows with weight, by how much they count in the mean over the classes.

        It is not fitted, and is a channel like any other: for a Gaussian process, a pool, transfer, a model file.
        """
        check_is_fitted(self)
        channels = self.input_.channels
        windows = [channel for channel in channels if isinstance(channel, Windows)]
        if not windows or len(windows) != len(channels):
            names = ", ".join(channel.name for channel in channels if not isinstance(channel, Windows))
            raise InvalidInput(
                f"{owner_name(self)}: only windows channels become one channel, got {names or 'no channels'}."
            )
        return Windows.of(windows, self.shares(len(windows)).tolist())

    def chosen_kernel(self) -> Kernel:
        """What was chosen as one kernel of rows: the sum of all kernels, by how much they count in the mean over the classes."""
        check_is_fitted(self)
        kernels = kernels_of_rows(self.input_.parameter)
        if not kernels:
            raise InvalidInput(f"{owner_name(self)}: only kernels of rows of numbers become one kernel.")
        weights = self.shares(len(kernels)) / self.input_.scales
        parts = [Scaled(weight, kernel) for weight, kernel in zip(weights.tolist(), kernels, strict=True) if weight > 0]
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        C = check_positive(self, "C", self.C)
        gap = check_number(self, "gap", self.gap, least=1e-10, most=MOST_GAP)
        targets = targets_of(labels, self.classes_)
        tasks = [Task(column, C) for column in (targets[:, 1:] if len(self.classes_) == 2 else targets).T.copy()]
        known, found = self._weigh(as_grams(grams), tasks, gap)
        self._keep(known, found)
        self._calibrate(known, tasks, found, targets.argmax(axis=1))

    def _keep(self, grams: Grams, found: Sequence[Weighted]) -> None:
        """What decides: a column for each class, and the kernels that have weight."""
        weights = np.stack([one.weights for one in found])
        duals = np.stack([one.dual for one in found], axis=1)
        intercepts, gaps = np.array([one.intercept for one in found]), np.array([one.gap for one in found])
        if len(self.classes_) == 2:
            weights, gaps = np.repeat(weights, 2, axis=0), np.repeat(gaps, 2)
            duals, intercepts = np.column_stack([-duals, duals]), np.append(-intercepts, intercepts)
        chosen = np.flatnonzero(weights.any(axis=0))
        chosen = chosen if len(chosen) else np.arange(weights.shape[1])  # one class alone needs no kernel
        kept = self.input_.keeping(chosen)
        if len(kept.scales) != len(chosen):  # the user goes on to bring all
            chosen = np.arange(weights.shape[1])
        self.input_, self.chosen_, self.weights_ = kept, chosen.astype(np.intp), weights[:, chosen]
        self.dual_weights_, self.intercepts_, self.gaps_ = duals, intercepts, gaps

    def _calibrate(self, grams: Grams, tasks: Sequence[Task], found: Sequence[Weighted], classes: Indices) -> None:
        """From margins of examples that were left out, fold by fold, with the weights as they are."""
        if len(self.classes_) == 1:
            self.calibration_ = Calibration()
            return
        folds, possible = left_out_folds(grams.weighted_sum(self._typical(found)), classes, self.input_.pictures)
        margins = np.empty((len(classes), len(tasks)))
        for first in range(0, len(tasks), TASKS_AT_A_TIME):
            some = range(first, min(first + TASKS_AT_A_TIME, len(tasks)))
            for at, K in zip(some, grams.weighted_sums(np.stack([found[at].weights for at in some])), strict=True):
                margins[:, at] = _left_out_margins(tasks[at], K, found[at].dual, folds)
        margins = np.column_stack([-margins, margins]) if len(self.classes_) == 2 else margins
        self.calibration_ = fit_calibration(margins[possible], classes[possible])

    def _typical(self, found: Sequence[Weighted]) -> Array:
        """Weights of a Gram matrix that shows which examples are alike for the classes as a whole."""
        weights = np.stack([one.weights for one in found])
        totals = weights.sum(axis=1, keepdims=True)
        return np.asarray((weights / np.where(totals > 0, totals, 1.0)).mean(axis=0))

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        blocks = self.input_.compare(rows)
        margins = np.tile(self.intercepts_, (len(blocks[0]), 1))
        for number in np.flatnonzero(self.weights_.any(axis=0)):
            margins += self.weights_[:, number] * (blocks[int(number)] @ self.dual_weights_)
        return margins

    def _learned(self) -> State:
        names = ("weights", "dual_weights", "intercepts", "gaps", "chosen")
        state = State({"options": self._options()}, {name: getattr(self, f"{name}_") for name in names})
        return state.join("calibration", self.calibration_.state())

    def _restore(self, state: State) -> None:
        self._restore_options(state)
        n, c, k = self.input_.n_training, len(self.classes_), len(self.input_.scales)
        self.weights_ = state.array("weights", (c, k), np.float64, least=0.0)
        self.dual_weights_ = state.array("dual_weights", (n, c), np.float64)
        self.intercepts_ = state.array("intercepts", (c,), np.float64)
        self.gaps_ = state.array("gaps", (c,), np.float64)
        self.chosen_ = state.array("chosen", (k,), np.intp, least=0)
        self.calibration_ = Calibration.from_state(state.nested("calibration"))


def _left_out_margins(task: Task, K: Array, dual: Array, folds: Indices) -> Array:
    """The margin of each example (n,) by the machine that did not see its fold."""
    margins = np.empty(len(folds))
    for fold in np.unique(folds):
        out = folds == fold
        margins[out] = task.train(K, dual, gap=FOLD_GAP, left_out=out).margins[out]
    return margins
