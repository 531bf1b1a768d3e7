"""Gaussian-process classification of a hundred thousand histograms without ever forming their kernel matrix. [Rodner2012]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import IterativePosterior, targets_of_columns
from fewsight.kernels import HistogramOperator
from fewsight.learners.base import Learner, LeftOut
from fewsight.learners.histograms import (
    FastVariance,
    Found,
    HistogramAnswers,
    HistogramInput,
    LazyVariance,
    balance_of,
    brought_home,
    calibrate,
    check_histograms,
    columns_to_calibrate,
    find,
    options_of,
    restored,
    settings_of,
    state_of,
    training_operator,
)
from fewsight.learners.labels import Labels, labelled, targets_of
from fewsight.learners.needs import Needs, RowsNeeded
from fewsight.learners.novelty import DEFAULT_RULE


class HistogramGPClassifier(HistogramAnswers, Learner):
    """Categories from many histograms: exact label regression with the intersection kernel in memory proportional to the
    non-zeros.

    All classes are trained as one block by conjugate gradients. Noise and relevance are learned by the evidence of the training
    examples, with a free mean for each class and at the scale that the evidence likes best.

    Parameters
    ----------
    kernel : what X is: None for rows of numbers >= 0, dense or sparse; a channel, or a list of channels, that compare by
        histogram intersection for images.
    feature_transform : "none", "power" for sum_d min(x_d^p, z_d^p) or "exponential". [Rodner2012, section 4]
    transform_parameter : of the transform; "left-out" to learn it from training examples that are left out, which costs some
        twenty trainings, or "evidence" to learn it by `criterion`.
    relevance : "none"; "evidence" to learn a weight for each dimension; "channels" for a weight for each channel, or each group;
        or the weights.
    groups : with rows of numbers, the number of the group that each column belongs to; for `relevance="channels"`.
    relevance_steps, relevance_prior : of learning them, at most, and as how many further problems equal weights count for
        each class: see `fewsight.gp.learn_relevance`. Less lets weights lie further apart, which many images of each class allow.
    noise_variance : of the targets, over a kernel of mean diagonal 1, or "evidence" to learn it.
    balanced : let every class count the same, however many examples it has: the larger side of each one-vs-all problem has more
        noise [Rodner2012, section 3], and probabilities and decisions are those of classes that are equally likely. Without it
        they are those of classes as frequent as their training examples.
    noise_per_class : learn a noise level for each class.
    criterion : "evidence", or "bound" for the paper's way: an upper bound of the negative log likelihood, by Nelder and Mead's
        method.
    tolerance : of the true residual of every system, relative.
    max_iterations : of conjugate gradients; `converged_` says whether that was enough.
    preconditioner : rank of what shortens conjugate gradients, see `fewsight.gp.LowRankPreconditioner`; 0 for none, "auto" to use
        it where it pays: many iterations and many systems. It changes how fast a solution is found, never which.
    quantization_bins : of the look-up tables, with linear interpolation, for prediction in constant time; None: always exact.
    variance : "fast" for the estimate in constant time, "exact" for a system to solve per image.
    calibrated : learn from left-out training examples how sure to be.
    unknown_rule : what speaks for an image that is like nothing seen, see `fewsight.learners.novelty`.
    false_alarm_rate : the share of known images that `is_unknown` may take for unknown.
    random_state : seed of the estimates.
    cluster : where to train: None for this machine; a `distributed.Client`, or the address of a Dask scheduler, to share the
        dimensions out among its workers. It is not saved with the model, which needs it no more.

    Attributes
    ----------
    classes_ : labels in the order of the columns of `predict_proba` and `latent`.
    posterior_ : dual weights and what belongs to them, see `IterativePosterior`.
    noise_variance_ : the level that is used; (columns,) numbers where each class has its own.
    transform_parameter_ : likewise; None without a transform.
    relevance_ : the weight of each dimension, for a kernel of mean diagonal 1.
    n_iter_, converged_ : of the last training.
    left_out_accuracy_ : mean accuracy per class on the training examples that were left out to calibrate; None if there are
        none.
    """

    name: ClassVar[str] = "histogram_gp"
    title: ClassVar[str] = "Histogram GP"
    note: ClassVar[str] = "a Gaussian process classifier of histograms that needs no matrix of all pairs of images."
    needs: ClassVar[Needs] = RowsNeeded()
    ways: ClassVar[tuple[str, ...]] = ("average", "evidence")

    classes_: Labels
    input_: HistogramInput
    posterior_: IterativePosterior[HistogramOperator]
    noise_variance_: float | Array

    def __init__(
        self,
        kernel: Any = None,
        *,
        feature_transform: str = "none",
        transform_parameter: float | str = "left-out",
        relevance: Any = "none",
        groups: Any = None,
        relevance_steps: int = 6,
        relevance_prior: float = 2.0,
        noise_variance: float | str = "evidence",
        balanced: bool = False,
        noise_per_class: bool = False,
        criterion: str = "evidence",
        tolerance: float = 1e-3,
        max_iterations: int = 1_000,
        preconditioner: int | str = "auto",
        quantization_bins: int | None = 100,
        variance: str = "fast",
        calibrated: bool = True,
        unknown_rule: str = DEFAULT_RULE,
        false_alarm_rate: float = 0.05,
        random_state: int = 0,
        cluster: Any = None,
    ) -> None:
        self.kernel = kernel
        self.feature_transform = feature_transform
        self.transform_parameter = transform_parameter
        self.relevance = relevance
        self.groups = groups
        self.relevance_steps = relevance_steps
        self.relevance_prior = relevance_prior
        self.noise_variance = noise_variance
        self.balanced = balanced
        self.noise_per_class = noise_per_class
        self.criterion = criterion
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.preconditioner = preconditioner
        self.quantization_bins = quantization_bins
        self.variance = variance
        self.calibrated = calibrated
        self.unknown_rule = unknown_rule
        self.false_alarm_rate = false_alarm_rate
        self.random_state = random_state
        self.cluster = cluster

    # Learning.

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from histograms, or images, and their labels; examples with the label None are left out."""
        return self._fit(X, y, ())

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from a first batch, whose noise and transform are kept, or take in a further one; see `add`.

        `classes` may name, at the first call, classes of which there is no example yet.
        """
        if hasattr(self, "posterior_"):
            return self.add(X, y)
        return self._fit(X, y, () if classes is None else classes)

    def add(self, X: Any, y: Any) -> Self:
        """Take in more examples, of old or new classes, from where training stands; noise, transform and relevance stay.

        New classes come after the old ones in `classes_`. Call `recalibrate` when many have come.
        """
        check_is_fitted(self)
        rows = self.input_.read(self._checked(X, reset=False))
        labels, positions = labelled(self, y, rows.shape[0])
        if len(positions) < rows.shape[0]:
            raise InvalidInput(
                f"HistogramGPClassifier: every added example must have a label, got {rows.shape[0] - len(positions)} without."
            )
        new = np.setdiff1d(labels, self.classes_)
        classes = np.concatenate([self.classes_, new]) if len(new) else self.classes_
        numbers = np.concatenate([self.posterior_.classes, targets_of(labels, classes).argmax(axis=1)])
        operator = self.posterior_.operator.append(rows)
        self.posterior_ = IterativePosterior.condition(
            operator, numbers, len(classes), self._noise(numbers, len(classes)), options_of(self), self.posterior_
        )
        self.classes_ = classes
        self._set_variance(None)
        return self

    def recalibrate(self) -> Self:
        """Learn anew how sure to be and what is unknown, after examples were added."""
        check_is_fitted(self)
        calibrate(self)
        return self

    # What it knows.

    @property
    def weights_(self) -> Array:
        """How much each channel, or group of columns, counts: its part of the mean diagonal of the kernel; they add up to 1."""
        check_is_fitted(self)
        operator, groups = self.posterior_.operator, self.input_.groups
        parts = np.bincount(groups, operator.weights * operator.dimension_traces())
        return parts / max(float(parts.sum()), 1e-300)

    @property
    def labels_(self) -> Labels:
        """The labels of the training examples."""
        check_is_fitted(self)
        return self.classes_[self.posterior_.classes]

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        return state_of(self)

    @classmethod
    def from_state(cls, state: State) -> Self:
        return restored(cls(), state)

    @property
    def n_iter_(self) -> int:
        """Iterations of the last training."""
        return self.posterior_.iterations

    @property
    def converged_(self) -> bool:
        """Whether the last training reached its tolerance."""
        return self.posterior_.converged

    def left_out(self) -> LeftOut | None:
        """How often those training examples were recognised that were left out to calibrate."""
        check_is_fitted(self)
        accuracy = self.left_out_accuracy_
        return None if accuracy is None else LeftOut(accuracy, "the images that were left out to check")

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Learn a weight for each channel by "evidence"; without it, all count the same."""
        return self.set_params(relevance="channels", groups=groups) if way == "evidence" else self

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts: `weights_`."""
        return self.weights_

    def found(self) -> dict[str, float]:
        """The noise variance, of a typical class where each has its own."""
        check_is_fitted(self)
        return {"noise variance": float(np.exp(np.log(self.noise_variance_).mean()))}

    # How.

    def _fit(self, X: Any, y: Any, more_classes: Any) -> Self:
        settings, _ = settings_of(self), options_of(self)
        inputs = HistogramInput.chosen(self.kernel, self.groups)
        X = self._checked(X, reset=True, images=bool(inputs.channels))
        labels, positions = labelled(self, y, X.shape[0] if hasattr(X, "shape") else len(X))
        classes = np.unique(np.concatenate([labels, np.asarray(more_classes, dtype=labels.dtype)]))
        if len(classes) < 2:
            raise InvalidInput(
                f"HistogramGPClassifier: y must hold two classes or more, got one class only: {classes[0]!r}."
            )
        rows = inputs.fit(X, labels, positions)
        numbers = np.searchsorted(classes, labels).astype(np.intp)
        with training_operator(self.cluster, rows) as operator:
            found = find(operator, numbers, len(classes), inputs.groups, settings)
            return self.settle(inputs, classes, numbers, found, rows)

    def settle(self, inputs: HistogramInput, classes: Labels, numbers: Indices, found: Found, rows: Any) -> Self:
        """Learn with a kernel and a noise that are known, from rows whose classes are `classes[numbers]`."""
        options = options_of(self)
        self.classes_, self.input_ = classes, inputs
        self._set_found(found)
        further = columns_to_calibrate(numbers, found.noise.shape[1])
        self.posterior_ = IterativePosterior.condition(
            found.operator, numbers, len(classes), found.noise, options, further=further
        )
        home = brought_home(self.posterior_, rows)
        self.variances_ = LazyVariance(home, int(self.random_state))
        calibrate(self)  # where it was trained
        self.posterior_ = home
        return self

    def _set_found(self, found: Found) -> None:
        self.noise_variance_ = float(found.levels[0]) if len(found.levels) == 1 else found.levels
        self.transform_parameter_ = found.parameter
        self.relevance_, self.log_evidence_ = found.operator.weights, found.log_evidence

    def _noise(self, numbers: Indices, n_classes: int) -> Array:
        """Of all examples, at the level that was learned."""
        targets = targets_of_columns(numbers, n_classes)
        levels = np.atleast_1d(self.noise_variance_)
        if len(levels) > 1:  # a class that is new has the level of a typical one
            levels = np.append(levels, np.full(targets.shape[1] - len(levels), np.exp(np.log(levels).mean())))
        return levels * (balance_of(targets) if self.balanced else np.ones((len(targets), 1)))

    def _set_variance(self, fast: FastVariance | None) -> None:
        self.variances_ = LazyVariance(self.posterior_, int(self.random_state), fast)

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.input_.read(self._checked(X, reset=False))

    def _checked(self, X: Any, *, reset: bool, images: bool | None = None) -> Any:
        if bool(self.input_.channels) if images is None else images:
            return X
        options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
        return check_histograms(validate_data(self, X, reset=reset, **options))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
