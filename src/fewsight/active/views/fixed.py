"""Any fitted learner with `latent`, looking at examples as it is."""

from __future__ import annotations

from typing import final

import numpy as np

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.base import Label, View
from fewsight.learners.probability import softmax


@final
class FixedView(View):
    """What a fitted learner says about examples that have no label; none of it follows further labels.

    Without a pool that compares the examples, batches are not made diverse.

    Parameters
    ----------
    learner : its name, for messages.
    classes : in the order of columns.
    mean, variance, probabilities : (m, c), (m,) and (m, c).
    n_labelled : how many examples it was fitted on.
    noise_variance : of its labels, 0 where it knows of none.
    pool : the examples, where they can be compared with each other.
    """

    def __init__(
        self,
        learner: object,
        classes: list[Label],
        mean: Array,
        variance: Array,
        probabilities: Array,
        n_labelled: int,
        noise_variance: float,
        pool: Pool | None = None,
    ) -> None:
        self.learner, self.classes, self.noise_variance, self.pool = owner_name(learner), classes, noise_variance, pool
        self._mean, self._variance, self._probabilities, self._n_labelled = mean, variance, probabilities, n_labelled
        self.unlabelled = np.ones(len(mean), dtype=bool)
        self._factors = np.ones(1) if pool is None else np.full(pool.n_kernels, 1.0 / pool.n_kernels) / pool.scales()
        self.diagonal = np.ones(len(mean)) if pool is None else pool.diagonal(self._factors)

    @property
    def mean(self) -> Array:
        return self._mean

    @property
    def variance(self) -> Array:
        return self._variance

    @property
    def n_labelled(self) -> int:
        return self._n_labelled

    @property
    def can_compare(self) -> bool:
        return self.pool is not None

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        if self.pool is None:
            raise InvalidInput(
                f"{self.learner}: examples of the pool must be comparable with each other; with kernel 'precomputed', "
                "pass their Gram matrix as pool_gram."
            )
        return self.pool.block(rows, columns, self._factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        raise InvalidInput(
            f"covariances: the learner must be a GPClassifier, with pool_gram given if its kernel is 'precomputed', got "
            f"{self.learner} without covariances."
        )

    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        return softmax(mean)

    def probabilities(self, rows: Indices | None = None) -> Array:
        return self._probabilities if rows is None else self._probabilities[rows]
