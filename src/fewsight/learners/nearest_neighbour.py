"""The nearest training example in the space that the kernel spans: the baseline of the papers."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.labels import Labels
from fewsight.learners.probability import softmax


class NearestNeighbourClassifier(KernelLearner):
    """The class of the nearest training example, at squared distance k(x, x) + k(z, z) - 2 k(x, z).

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    """

    def __init__(self, kernel: Any = None) -> None:
        self.kernel = kernel

    def latent(self, X: Any) -> Latent:
        """Minus the squared distance to the nearest example of each class; the standard deviations are zero."""
        closeness = self._decide(X)
        return Latent(closeness, np.zeros_like(closeness))

    def predict_proba(self, X: Any) -> Array:
        """A softmax of the closeness to each class: it keeps the order, and is not calibrated."""
        return softmax(self._decide(X))

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        self.diagonal_ = np.mean([np.diag(K) for K in grams], axis=0)
        self.members_ = [np.flatnonzero(labels == label) for label in self.classes_]

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        K_test = np.mean(self.input_.compare(rows), axis=0)
        own = np.mean(self.input_.diagonals(rows), axis=0)
        closeness = 2 * K_test - self.diagonal_ - own[:, None]
        return np.stack([closeness[:, members].max(axis=1) for members in self.members_], axis=1)
