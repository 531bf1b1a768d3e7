"""What every learner has in common: the input, the labels, and the way from latent values to a decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fewsight._base.types import Array
from fewsight.kernels import Kernel
from fewsight.learners.inputs import Input, choose_input, is_list_of_matrices
from fewsight.learners.labels import Labels, labelled


class Latent(NamedTuple):
    """Latent values of test examples: mean and standard deviation, a column per class."""

    mean: Array
    std: Array


class KernelLearner(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that sees its examples through Gram matrices only.

    `kernel` says what X is: a kernel object (or None for a Gaussian as wide as the data) for rows of numbers; a channel or a
    list of channels for images; "precomputed" for a Gram matrix or a list of them, n x n in `fit` and m x n afterwards.
    Labels are strings, integers or booleans; examples with the label None are left out.
    """

    kernel: Any

    @abstractmethod
    def _learn(self, grams: list[Array], labels: Labels) -> None:
        """Learn from scaled training Gram matrices; `classes_` is set."""

    @abstractmethod
    def latent(self, X: Any) -> Latent:
        """How strongly each class claims each example, and how sure that is."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""

    @abstractmethod
    def _decide(self, X: Any) -> Array:
        """Values whose largest column decides; cheaper than `latent` where that is possible."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples X and their labels y."""
        X = self._checked(X, reset=True)
        inputs = choose_input(self, self.kernel, X)
        labels, positions = labelled(self, y, _n_examples(X))
        self.classes_ = np.unique(labels)
        grams = inputs.fit(X, labels, positions)
        self.input_: Input = inputs
        self._learn(grams, labels)
        return self

    def predict(self, X: Any) -> Labels:
        """The class of each example."""
        columns = self._decide(X).argmax(axis=1)
        return self.classes_[columns]

    def _read(self, X: Any) -> Any:
        """New examples, ready for `input_.compare` and `input_.diagonals`."""
        check_is_fitted(self)
        return self.input_.read(self._checked(X, reset=False))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Rows of numbers go through scikit-learn's checks; images and lists of Gram matrices have their own."""
        if self.kernel is None or isinstance(self.kernel, Kernel):
            sparse = "csr" if self._accepts_sparse() else False
            return validate_data(self, X, accept_sparse=sparse, dtype=np.float64, reset=reset)
        return X

    def _accepts_sparse(self) -> bool:
        return isinstance(self.kernel, Kernel) and self.kernel.accepts_sparse

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._accepts_sparse()
        return tags


def _n_examples(X: Any) -> int:
    if is_list_of_matrices(X):
        return len(X[0])
    return X.shape[0] if hasattr(X, "shape") else len(X)
