"""What learners have in common that state no uncertainty of their own: the baselines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.probability import softmax


class Baseline(KernelLearner):
    """A learner whose values decide, and are all that it knows. Several Gram matrices are averaged."""

    def latent(self, X: Any) -> Latent:
        """The values that decide. Such a learner states no uncertainty: the standard deviations are zero."""
        values = self._decide(X)
        return Latent(values, np.zeros_like(values))

    def predict_proba(self, X: Any) -> Array:
        """A softmax of the values that decide: it keeps their order."""
        return softmax(self._decide(X))


class DualLearner(Baseline):
    """A learner that is linear in the space that the kernel spans: K_test @ dual_weights_ + intercepts_."""

    dual_weights_: Array  # (n, c)
    intercepts_: Array  # (c,)

    @abstractmethod
    def _learn(self, grams: list[Array], labels: Any) -> None:
        """Find `dual_weights_` and `intercepts_`."""

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        return averaged(self.input_.compare(rows)) @ self.dual_weights_ + self.intercepts_


def averaged(blocks: Sequence[Array]) -> Array:
    """The mean of scaled Gram matrices, or of their diagonals."""
    return blocks[0] if len(blocks) == 1 else np.mean(blocks, axis=0)
