"""What learners have in common that see their examples through Gram matrices only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.gp import Posterior
from fewsight.learners.base import Learner, plain_options
from fewsight.learners.examples import Examples
from fewsight.learners.inputs import (
    ImageList,
    Input,
    channels_of_images,
    choose_input,
    input_from_state,
    is_list_of_matrices,
    kernels_of_rows,
)
from fewsight.learners.labels import Labels, LabelsLike, classes_from, classes_header, classes_to_learn, labelled
from fewsight.learners.needs import GramsNeeded, Needs


class KernelLearner(Learner):
    """A classifier that sees its examples through Gram matrices only.

    `kernel` says what X is: a kernel object or a list of them (or None for a Gaussian as wide as the data) for rows of numbers;
    a channel or a list of channels for images; "precomputed" for a Gram matrix, a list of them or a `GramStack`, n x n in `fit`
    and m x n afterwards (a `BlockStack` for many).

    Attributes
    ----------
    classes_ : array (c,), the categories, sorted; those that `add` brings come last.
    input_ : what turns examples into Gram matrices.
    n_features_in_ : how many numbers a row has; of rows and Gram matrices only.
    """

    needs: ClassVar[Needs] = GramsNeeded()
    input_: Input
    n_features_in_: int

    @abstractmethod
    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        """Learn from scaled training Gram matrices; `classes_` is set."""

    @abstractmethod
    def _decide(self, X: Examples) -> Array:
        """Values whose largest column decides; cheaper than `latent` where that is possible."""

    def fit(self, X: Examples, y: LabelsLike) -> Self:
        """Learn from examples X and their labels y."""
        X = self._checked(X, reset=True)
        inputs = choose_input(self, self.kernel, X)
        labels, positions = labelled(self, y, n_examples(X))
        self.classes_ = classes_to_learn(self, labels)
        grams = inputs.fit(X, labels, positions)
        self.input_ = inputs
        self.note_width()
        self._learn(grams, labels)
        self._look_at_unlabelled(X, np.setdiff1d(np.arange(n_examples(X)), positions))
        self.input_.release()
        return self

    def _look_at_unlabelled(self, X: Examples, positions: Indices) -> None:
        """Learn from the examples at these positions, which have no label; few learners can."""
        return

    def predict(self, X: Examples) -> Labels:
        """The class of each example."""
        columns = self._decide(X).argmax(axis=1)
        return self.classes_[columns]

    @property
    def channels(self) -> list[Channel]:
        """The fitted channels through which it sees images, if any."""
        check_is_fitted(self)
        return list(self.input_.channels)

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        learned = self._learned()
        state = State({**classes_header(self.classes_), **learned.header}, learned.arrays)
        return state.join("input", self.input_.state())

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner = cls()
        learner.classes_ = classes_from(state.header)
        learner.input_ = input_from_state(state.nested("input"))
        learner.kernel = learner.input_.parameter
        learner.note_width()
        learner._restore(state)
        return learner

    @abstractmethod
    def _learned(self) -> State:
        """What was learned, and the options it was learned with, for the model file."""

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Take back what `_learned` gave, checking it: a file may be edited. `classes_` and `input_` are set."""

    def _options(self) -> dict[str, Any]:
        """The options of the learner for the header of a model file, without what X is and how the work is done."""
        left_out = ("kernel", "n_jobs", "cluster")
        return plain_options(self, [name for name in self._get_param_names() if name not in left_out])

    def _restore_options(self, state: State) -> None:
        """Take the options of a model file; which there are is the learner's to say."""
        options = state.header["options"]
        if not isinstance(options, dict) or set(options) != set(self._options()):
            raise InvalidInput(f"the options must be {', '.join(self._options()) or 'none'}.")
        self.set_params(**options)

    def note_width(self) -> None:
        """How wide a row of X is, where that is fixed; images have no width, whatever was learned from before."""
        if isinstance(self.input_.n_columns, int):
            self.n_features_in_ = self.input_.n_columns
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_

    def _read(self, X: Examples) -> Any:
        """New examples, ready for `input_.compare` and `input_.diagonals`."""
        check_is_fitted(self)
        return self.input_.read(self._checked(X, reset=False))

    def _checked(self, X: Examples, *, reset: bool) -> Any:
        """Rows of numbers go through scikit-learn's checks; images and lists of Gram matrices have their own."""
        if self.kernel is None or kernels_of_rows(self.kernel):
            sparse = "csr" if self._accepts_sparse() else False
            return validate_data(self, X, accept_sparse=sparse, dtype=np.float64, reset=reset)
        return ImageList(cast("Sequence[Any]", X)) if channels_of_images(self.kernel) else X

    def _accepts_sparse(self) -> bool:
        kernels = kernels_of_rows(self.kernel)
        return bool(kernels) and all(kernel.accepts_sparse for kernel in kernels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._accepts_sparse()
        return tags


def n_examples(X: Any) -> int:
    """How many examples there are: rows, images, or rows of the first of several Gram matrices."""
    first = X[0] if is_list_of_matrices(X) else X
    return int(first.shape[0]) if hasattr(first, "shape") else len(first)


def check_sizes(posterior: Posterior, n_columns: int, n_rows: int) -> None:
    """A posterior of a model file fits the classes and the training examples of the same file."""
    if posterior.n_targets != n_columns:
        raise InvalidInput(f"the posterior must have a column per class: {n_columns}, got {posterior.n_targets}.")
    if posterior.n != n_rows:
        raise InvalidInput(f"the posterior must have a row per training example: {n_rows}, got {posterior.n}.")
