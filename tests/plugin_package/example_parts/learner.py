"""A learner: the category with the most kernel mass around an example, a Parzen window."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight import State
from fewsight.gp import mean_of
from fewsight.learners import KernelLearner, Latent


class ParzenClassifier(KernelLearner):
    """The category whose training examples have the largest mean kernel value with an example.

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    """

    name: ClassVar[str] = "parzen"
    title: ClassVar[str] = "Parzen window"
    note: ClassVar[str] = "the category whose training images are, on average, most similar."

    def __init__(self, kernel=None):
        self.kernel = kernel

    def _learn(self, grams, labels):
        members = labels[:, None] == self.classes_
        self.shares_ = members / members.sum(axis=0)

    def _decide(self, X):
        rows = self._read(X)
        return mean_of(self.input_.compare(rows)) @ self.shares_

    def latent(self, X):
        values = self._decide(X)
        return Latent(values, np.zeros_like(values))

    def predict_proba(self, X):
        values = self._decide(X)
        odds = np.exp(values - values.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def _learned(self):
        return State({}, {"shares": self.shares_})

    def _restore(self, state):
        shares = state.array("shares", (self.input_.n_training, len(self.classes_)), np.float64, least=0.0)
        if not np.allclose(shares.sum(axis=0), 1):
            raise ValueError("shares must add up to 1 for each category.")
        self.shares_ = shares
