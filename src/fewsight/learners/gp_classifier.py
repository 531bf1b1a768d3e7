"""Gaussian-process classification by label regression, all classes with one factorisation. [Kapoor2010, sections 4 and 6]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_matrix, check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import LeaveOneOut, Posterior, learn_noise, learn_weights_and_noise
from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.inputs import INPUTS
from fewsight.learners.labels import Labels, labelled, targets_of
from fewsight.learners.probability import largest_probability

LABEL_TYPES = {"U": "string", "i": "integer", "u": "integer", "b": "boolean", "f": "number"}


class GPClassifier(KernelLearner):
    """Categories from a few examples, with a standard deviation for every latent value.

    Each class is a Gaussian process whose target is +1 for its own examples and -1 for all others; the largest posterior mean
    decides. One Cholesky factorisation serves all classes.

    Parameters
    ----------
    kernel : what X is, as for every learner.
    noise_variance : variance of the noise on the targets, or "evidence" to maximise the evidence over it.
    weights : of several Gram matrices or channels: "average", "evidence" (learned with the noise), or one number for each.
    balanced : give examples of frequent classes more noise, N_ii = noise_variance * classes * n_class(i) / n, so that rare
        classes count as much. [Rodner2012, section 3]

    Attributes
    ----------
    classes_ : labels in the order of the columns of `predict_proba` and `latent`.
    noise_variance_ : the noise variance that is used.
    weights_ : weight of each Gram matrix, for kernels scaled to a training diagonal of mean 1.
    posterior_ : the posterior, see `fewsight.gp.Posterior`.
    """

    posterior_: Posterior

    def __init__(
        self,
        kernel: Any = None,
        *,
        noise_variance: float | str = "evidence",
        weights: str | Sequence[float] = "average",
        balanced: bool = False,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.weights = weights
        self.balanced = balanced

    def latent(self, X: Any) -> Latent:
        """Posterior mean and standard deviation of each class; the deviation is one for all classes of an example."""
        rows = self._read(X)
        K_test = self._combined(self.input_.compare(rows))
        diagonal = np.tensordot(self.weights_, self.input_.diagonals(rows), axes=1)
        std = np.sqrt(self.posterior_.variance(K_test, diagonal))
        mean = self.posterior_.mean(K_test)
        return Latent(mean, np.repeat(std[:, None], mean.shape[1], axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Probability that the target of each class is the largest, given its mean, its variance and the noise."""
        mean, std = self.latent(X)
        return largest_probability(mean, np.sqrt(std[:, 0] ** 2 + self.noise_variance_))

    def leave_one_out(self) -> LeaveOneOut:
        """Latent values of each training example as if it had not been there, in closed form."""
        check_is_fitted(self)
        return self.posterior_.leave_one_out()

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
        return self

    def remove(self, indices: Indices) -> Self:
        """Forget training examples, by their positions, without learning noise or weights again."""
        check_is_fitted(self)
        kept = np.delete(np.arange(self.posterior_.n), indices)
        self.posterior_ = self.posterior_.remove(indices)
        self.input_ = self.input_.select(kept)
        return self

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        header = {
            "classes": self.classes_.tolist(),
            "label_type": LABEL_TYPES[self.classes_.dtype.kind],
            "noise_variance": self.noise_variance_,
            "balanced": bool(self.balanced),
        }
        state = State(header, {"weights": self.weights_})
        return state.join("input", self.input_.state()).join("posterior", self.posterior_.state())

    @classmethod
    def from_state(cls, state: State) -> Self:
        inputs = state.nested("input")
        restored = cls(balanced=bool(state.header["balanced"]))
        restored.input_ = INPUTS[check_choice("model", "input", inputs.header["kind"], INPUTS)].from_state(inputs)
        restored.kernel = restored.input_.parameter
        restored.posterior_ = Posterior.from_state(state.nested("posterior"))
        restored.noise_variance_ = check_positive("model", "noise_variance", state.header["noise_variance"])
        restored.noise_variance = restored.noise_variance_
        restored.weights_ = restored._checked_weights(state.arrays["weights"], len(restored.input_.scales))
        restored.classes_ = _checked_classes(state.header["classes"], state.header["label_type"])
        if isinstance(restored.input_.n_columns, int):
            restored.n_features_in_ = restored.input_.n_columns
        restored._check_consistent()
        return restored

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        targets = targets_of(labels, self.classes_)
        balance = self._balance(labels, self.classes_) if self.balanced else np.ones(len(labels))
        self.weights_, self.noise_variance_ = self._hyperparameters(grams, targets, balance)
        self.posterior_ = Posterior.condition(self._combined(grams), targets, self.noise_variance_ * balance)

    def _hyperparameters(self, grams: list[Array], targets: Array, balance: Array) -> tuple[Array, float]:
        learn = isinstance(self.noise_variance, str)
        if learn:
            check_choice(self, "noise_variance", self.noise_variance, ["evidence"])
        if isinstance(self.weights, str):
            check_choice(self, "weights", self.weights, ["average", "evidence"])
            if self.weights == "evidence" and len(grams) > 1:
                fixed = None if learn else check_positive(self, "noise_variance", self.noise_variance)
                found = learn_weights_and_noise(grams, targets, balance=balance, noise_level=fixed)
                return found.weights, found.noise_level
            weights = np.full(len(grams), 1.0 / len(grams))
        else:
            weights = self._checked_weights(self.weights, len(grams))
        if not learn:
            return weights, check_positive(self, "noise_variance", self.noise_variance)
        K = grams[0] * weights[0] if len(grams) == 1 else np.tensordot(weights, grams, axes=1)
        return weights, learn_noise(K, targets, balance=balance).level

    def _checked_weights(self, weights: Any, count: int) -> Array:
        row = check_matrix(self, "weights", [weights], shape=(1, count))[0]
        if (row < 0).any() or not row.any():
            raise InvalidInput(f"GPClassifier: weights must be >= 0 and not all zero, got {row.tolist()}.")
        return row

    def _combined(self, grams: Sequence[Array]) -> Array:
        if len(grams) == 1:
            return grams[0] if self.weights_[0] == 1.0 else self.weights_[0] * grams[0]
        return np.tensordot(self.weights_, grams, axes=1)

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        return self.posterior_.mean(self._combined(self.input_.compare(rows)))

    def _balance(self, labels: Labels, classes: Labels) -> Array:
        """Factors on the noise of each example that average to about one; equal classes all get one."""
        known = np.concatenate([self.labels_, labels]) if hasattr(self, "posterior_") else labels
        counts = np.array([(known == label).sum() for label in labels])
        return len(classes) * counts / len(known)

    def _classes_with(self, labels: Labels) -> Labels:
        new = np.setdiff1d(labels, self.classes_)
        return np.concatenate([self.classes_, new]) if len(new) else self.classes_

    def _check_consistent(self) -> None:
        posterior = self.posterior_
        if posterior.n_targets != len(self.classes_):
            raise InvalidInput(
                f"the posterior must have a column per class: {len(self.classes_)}, got {posterior.n_targets}."
            )
        if posterior.n != self.input_.n_training:
            raise InvalidInput(
                f"the posterior must have a row per training example: {self.input_.n_training}, got {posterior.n}."
            )


def _checked_classes(classes: Any, label_type: Any) -> Labels:
    kinds: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}
    kind = kinds[check_choice("model", "label_type", label_type, kinds)]
    if not isinstance(classes, list) or not classes or not all(isinstance(label, kind) for label in classes):
        raise InvalidInput(f"the classes must be a list of labels of type {label_type}.")
    if len(set(classes)) != len(classes):
        raise InvalidInput("the classes must differ from each other.")
    return np.array(classes, dtype=float if label_type == "number" else None)
