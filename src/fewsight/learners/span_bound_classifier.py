"""A Gaussian kernel over several models, whose weights minimise a bound of the leave-one-out error. [Holub2008, section 6]"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_integer, check_number
from fewsight._base.types import Array, State
from fewsight.learners.baseline import Baseline, squared_distances
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.labels import Labels, targets_of
from fewsight.learners.span_bound import SpanBound, lowest, trained
from fewsight.learners.weight_pull import best_equal_weights, chosen_pull, folds_to_leave_out

LARGEST = 1e12
CROSS_VALIDATED = "cross_validated"


class SpanBoundClassifier(Baseline):
    """Support vector machines with k(x, z) = exp(-1/2 sum_m w_m d_m(x, z)^2), one against all, with one set of weights.

    d_m is the distance in the space that kernel m spans, so that a linear kernel of the scores of a model gives the distance of
    its scores. The weights are inside the exponential: this is no sum of Gram matrices. Weights and C are found by descent on the
    span bound, summed over the classes. One kernel for each column of X (`Columns`) gives a weight for each feature. Of Gram
    matrices that the user brings, new examples are taken to have the mean value with themselves.

    The descent begins at the one weight for all and the C that predict most of the training examples in ten folds. Many weights
    and few examples let the bound fall without any gain, so that a penalty pulls the logarithms of the weights together.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them.
    temperature : H of the paper, over which a bound becomes an error; the larger, the more nearly linear, and the larger C.
    eta : how far the bound is smoothed.
    max_steps : of the descent, at most; 0 leaves all weights equal.
    pull : what is added to the bound for each unit of variance of the logarithms of the weights, 0 or more. "cross_validated":
        in ten folds 0.03, 0.003, 0 and equal weights are compared; weights differ only if they predict more of the training
        examples, by more than a standard error. Of many examples and classes fewer folds are left out, three at least.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    weights_ : (n_kernels,), 0 or more, inside the exponential.
    C_ : the penalty that was found.
    pull_ : the pull that is used; infinite where weights stayed equal because others were no better.
    bounds_ : (n_steps + 1,), the bound on the way down.
    path_ : (n_steps + 1, n_kernels), the weights on the way down.
    dual_weights_ : (n, n_classes), what each training example counts for each class.
    intercepts_ : (n_classes,), what is added for each class.
    lengths_ : (n_kernels, n), kernel values of training examples with themselves.
    """

    name: ClassVar[str] = "span_bound"
    title: ClassVar[str] = "SVM, weighted inside a Gaussian"
    note: ClassVar[str] = (
        "support vector machines with a Gaussian over all channels, weighted by a bound of left-out errors."
    )
    ways: ClassVar[tuple[str, ...]] = ("evidence",)

    weights_: Array  # (k,)
    C_: float
    pull_: float
    bounds_: Array  # (steps + 1,), on the way down
    path_: Array  # (steps + 1, k), the weights on the way down
    dual_weights_: Array  # (n, c)
    intercepts_: Array  # (c,)
    lengths_: Array  # (k, n), kernel values of training examples with themselves

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        temperature: float = 0.3,
        eta: float = 0.1,
        max_steps: int = 30,
        pull: float | str = CROSS_VALIDATED,
    ) -> None:
        self.kernel = kernel
        self.temperature = temperature
        self.eta = eta
        self.max_steps = max_steps
        self.pull = pull

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts: its weight times its mean squared distance, divided by the sum of all."""
        check_is_fitted(self)
        return self.shares_

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        temperature, eta, max_steps, pull = self._checked_options()
        blocks = [np.asarray(gram) for gram in grams]
        self.lengths_ = np.stack([gram.diagonal() for gram in blocks])
        distances = _squared_distances(blocks, self.lengths_, self.lengths_)
        targets = targets_of(labels, self.classes_)
        n, c = targets.shape
        self.weights_, self.C_, self.bounds_ = np.ones(len(blocks)), 1.0, np.zeros(1)
        self.path_, self.pull_ = self.weights_[None], np.inf
        self.dual_weights_, self.intercepts_ = np.zeros((n, c)), np.ones(c)
        if c > 1:
            problems = targets[:, 1:] if c == 2 else targets
            bounds = [SpanBound(distances, column, temperature, eta) for column in problems.T]
            classes = np.where(targets.max(axis=1) > 0, targets.argmax(axis=1), -1)
            folds = folds_to_leave_out(classes, problems.shape[1])
            start = best_equal_weights(distances, problems, folds)
            if pull is not None:
                self.pull_ = pull
            elif max_steps and len(blocks) > 1 and folds:
                make = functools.partial(SpanBound, temperature=temperature, eta=eta)
                self.pull_ = chosen_pull(make, distances, problems, start, folds, max_steps)
            found = lowest(bounds, max_steps, start=start, pull=self.pull_)
            self.weights_, self.C_, self.bounds_, self.path_ = found
            K = np.exp(-0.5 * np.tensordot(self.weights_, distances, axes=1))
            machines = [trained(K, column, self.C_) for column in targets.T]
            self.dual_weights_ = np.stack([machine.dual for machine in machines], axis=1)
            self.intercepts_ = np.array([machine.intercept for machine in machines])
        parts = self.weights_ * distances.mean(axis=(1, 2))
        self.shares_ = parts / parts.sum() if parts.sum() > 0 else np.full(len(parts), 1.0 / len(parts))

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        blocks = [np.asarray(block) for block in self.input_.compare(rows)]
        lengths = np.stack(self.input_.diagonals(rows))
        distances = _squared_distances(blocks, lengths, self.lengths_)
        K = np.exp(-0.5 * np.tensordot(self.weights_, distances, axes=1))
        return np.asarray(K @ self.dual_weights_ + self.intercepts_)

    def _checked_options(self) -> tuple[float, float, int, float | None]:
        """Numbers that can be used; None where the pull is to be chosen."""
        pull = None
        if isinstance(self.pull, str):
            check_choice(self, "pull", self.pull, (CROSS_VALIDATED,))
        else:
            pull = check_number(self, "pull", self.pull, least=0, most=LARGEST)
        return (
            check_number(self, "temperature", self.temperature, least=1e-3, most=1e6),
            check_number(self, "eta", self.eta, least=1e-6, most=1e6),
            check_integer(self, "max_steps", self.max_steps, least=0, most=10_000),
            pull,
        )

    def _learned(self) -> State:
        arrays = {
            "dual_weights": self.dual_weights_,
            "intercepts": self.intercepts_,
            "weights": self.weights_,
            "shares": self.shares_,
            "lengths": self.lengths_,
            "bounds": self.bounds_,
            "path": self.path_,
        }
        pull = self.pull_ if np.isfinite(self.pull_) else None
        header = {"options": self._options(), "C": self.C_, "pull": pull, "n_bounds": len(self.bounds_)}
        return State(header, arrays)

    def _restore(self, state: State) -> None:
        """A file from before weights were pulled together holds some that were not."""
        options, pull = state.header["options"], 0.0 if "pull" not in state else state.number_or_none("pull", least=0)
        if isinstance(options, dict):
            state.header["options"] = {"pull": 0.0, **options}
        self._restore_options(state)
        self._checked_options()
        self.pull_ = np.inf if pull is None else pull
        n, c, k = self.input_.n_training, len(self.classes_), len(self.input_.scales)
        self.C_ = state.number("C", least=0, most=LARGEST)
        self.dual_weights_ = state.array("dual_weights", (n, c), np.float64)
        self.intercepts_ = state.array("intercepts", (c,), np.float64)
        self.weights_ = state.array("weights", (k,), np.float64, least=0, most=LARGEST)
        self.shares_ = state.array("shares", (k,), np.float64, least=0, most=1)
        self.lengths_ = state.array("lengths", (k, n), np.float64, least=0, most=LARGEST)
        n_bounds = state.integer("n_bounds", least=1, most=100_000)
        self.bounds_ = state.array("bounds", (n_bounds,), np.float64, least=0)
        self.path_ = self.weights_[None]
        if "path" in state:  # files from before it was kept have none
            self.path_ = state.array("path", (n_bounds, k), np.float64, least=0, most=LARGEST)


def _squared_distances(blocks: Sequence[Array], lengths: Array, others: Array) -> Array:
    """(k, m, n): of examples whose kernel values with themselves are `lengths` (k, m), from those of `others` (k, n)."""
    return np.stack([squared_distances(*each) for each in zip(blocks, lengths, others, strict=True)])
