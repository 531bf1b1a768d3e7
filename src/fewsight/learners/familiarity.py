"""How near an example is to those of the categories, where some training examples belong to none.

An example of no category says what its like is not; it does not make its like familiar. So for what is unknown, variances and
distances are those that the examples of the categories alone leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior
from fewsight.learners.labels import NO_CLASS, class_numbers
from fewsight.learners.novelty import largest_cosine, similarity_to_other_folds


@final
@dataclass(frozen=True, eq=False)
class Familiarity:
    """The posterior of the examples `inside` the categories, as if the others had never been there."""

    whole: Posterior
    inside: Indices
    posterior: Posterior

    @classmethod
    def of(cls, posterior: Posterior) -> Familiarity:
        """From the posterior of all training examples."""
        numbers = class_numbers(posterior.targets)
        outside = np.flatnonzero(numbers == NO_CLASS)
        inside = np.flatnonzero(numbers != NO_CLASS)
        return cls(posterior, inside, posterior.remove(outside) if len(outside) else posterior)

    @property
    def is_whole(self) -> bool:
        """Whether every example belongs to a category."""
        return self.posterior is self.whole

    def of_new(self, K_test: Array, diagonal: Array) -> tuple[Array, Array]:
        """Of new examples, latent variances and largest cosines (m,), from their kernel with all training examples (m, n)."""
        K = K_test[:, self.inside]
        return self.posterior.variance(K, diagonal), largest_cosine(K, diagonal, self.posterior.prior_variance)

    def of_left_out(self, K: Array, folds: Indices) -> tuple[Array, Array]:
        """Of training examples (n,), the same without those of their fold; K is the kernel among all."""
        outside = np.setdiff1d(np.arange(len(K)), self.inside)
        variance, similarity = np.empty(len(K)), np.empty(len(K))
        known = folds[self.inside]
        noisy = self.posterior.leave_group_out(np.unique(known, return_inverse=True)[1].ravel()).variance
        variance[self.inside] = np.maximum(noisy - self.posterior.noise_variance, 0.0)
        similarity[self.inside] = similarity_to_other_folds(K[np.ix_(self.inside, self.inside)], known)
        variance[outside], similarity[outside] = self.of_new(K[outside], K.diagonal()[outside])
        return variance, similarity
