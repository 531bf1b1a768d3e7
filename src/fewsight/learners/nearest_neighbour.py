"""The nearest training example, and the nearest class mean, in the space that the kernel spans."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.learners.baseline import Baseline, averaged
from fewsight.learners.labels import Labels


class NearestNeighbourClassifier(Baseline):
    """The class of the nearest training example, at squared distance k(x, x) + k(z, z) - 2 k(x, z).

    `latent` gives minus the squared distance to the nearest example of each class; `predict_proba` is a softmax of that and is
    not calibrated.

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    """

    def __init__(self, kernel: Any = None) -> None:
        self.kernel = kernel

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        self.diagonal_ = np.mean([np.diag(K) for K in grams], axis=0)
        self.members_ = [np.flatnonzero(labels == label) for label in self.classes_]

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        K_test = averaged(self.input_.compare(rows))
        own = averaged(self.input_.diagonals(rows))
        closeness = 2 * K_test - self.diagonal_ - own[:, None]
        return np.stack([closeness[:, members].max(axis=1) for members in self.members_], axis=1)


class NearestMeanClassifier(Baseline):
    """The class whose mean is nearest, at squared distance k(x, x) + mean_ij k(z_i, z_j) - 2 mean_i k(x, z_i).

    For a linear kernel this is the distance to the mean of the vectors of a class, the usual first try on embeddings. `latent`
    gives minus the squared distances; `predict_proba` is a softmax of them and is not calibrated.

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    """

    def __init__(self, kernel: Any = None) -> None:
        self.kernel = kernel

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        members = labels[:, None] == self.classes_
        self.shares_ = members / members.sum(axis=0)  # (n, c): what each example has in the mean of each class
        self.lengths_ = np.einsum("ij,ij->j", self.shares_, averaged(grams) @ self.shares_)

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        K_test = averaged(self.input_.compare(rows))
        own = averaged(self.input_.diagonals(rows))
        return 2 * K_test @ self.shares_ - self.lengths_ - own[:, None]
