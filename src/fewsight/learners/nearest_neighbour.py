"""The nearest training example, and the nearest class mean, in the space that the kernel spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from fewsight._base.types import Array, State
from fewsight.learners.baseline import MemberLearner, averaged
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.labels import Labels


class NearestNeighbourClassifier(MemberLearner):
    """The class of the nearest training example, at squared distance k(x, x) + k(z, z) - 2 k(x, z).

    `latent` gives minus the squared distance to the nearest example of each class; `predict_proba` is a softmax of that and is
    not calibrated.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them;
        several are averaged.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    members_ : (n,), the number of each training example's class.
    """

    name: ClassVar[str] = "nn"
    title: ClassVar[str] = "Nearest neighbour"
    note: ClassVar[str] = "the category of the most similar training image."

    def __init__(self, kernel: KernelLike = None) -> None:
        self.kernel = kernel

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        self.diagonal_ = np.mean([np.diag(K) for K in grams], axis=0)
        self.members_ = np.searchsorted(self.classes_, labels)

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        K_test = averaged(self.input_.compare(rows))
        own = averaged(self.input_.diagonals(rows))
        closeness = 2 * K_test - self.diagonal_ - own[:, None]
        each = [np.flatnonzero(self.members_ == number) for number in range(len(self.classes_))]
        return np.stack([closeness[:, members].max(axis=1) for members in each], axis=1)

    def _learned(self) -> State:
        return State({}, {"members": self.members_, "diagonal": self.diagonal_})

    def _restore(self, state: State) -> None:
        self._restore_members(state)
        self.diagonal_ = state.array("diagonal", self.members_.shape, np.float64)


class NearestMeanClassifier(MemberLearner):
    """The class whose mean is nearest, at squared distance k(x, x) + mean_ij k(z_i, z_j) - 2 mean_i k(x, z_i).

    For a linear kernel this is the distance to the mean of the vectors of a class, the usual first try on embeddings. `latent`
    gives minus the squared distances; `predict_proba` is a softmax of them and is not calibrated.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them;
        several are averaged.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    members_ : (n,), the number of each training example's class.
    """

    name: ClassVar[str] = "mean"
    title: ClassVar[str] = "Nearest class mean"
    note: ClassVar[str] = "the category whose training images are, on average, most similar."

    def __init__(self, kernel: KernelLike = None) -> None:
        self.kernel = kernel

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        self.members_ = np.searchsorted(self.classes_, labels)
        shares = self._shares()
        self.lengths_ = np.einsum("ij,ij->j", shares, averaged(grams) @ shares)

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        K_test = averaged(self.input_.compare(rows))
        own = averaged(self.input_.diagonals(rows))
        return 2 * K_test @ self._shares() - self.lengths_ - own[:, None]

    def _shares(self) -> Array:
        """What each training example has in the mean of each class (n, c)."""
        members = self.members_[:, None] == np.arange(len(self.classes_))
        return members / members.sum(axis=0)

    def _learned(self) -> State:
        return State({}, {"members": self.members_, "lengths": self.lengths_})

    def _restore(self, state: State) -> None:
        self._restore_members(state)
        self.lengths_ = state.array("lengths", self.classes_.shape, np.float64)
