"""A pool as any learner sees it, fitted again when something is read after labels came."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.base import Answer
from fewsight.active.views.labelled import LabelledView
from fewsight.learners import Latent, Learner
from fewsight.learners.labels import Labels, with_outsiders
from fewsight.learners.probability import softmax

Fit = Callable[[Indices, Labels], tuple[Learner, Latent]]


@final
class RefittedView(LabelledView):
    """Like `PoolView` for learners that cannot take in one label: support vector machines, nearest neighbours."""

    def __init__(self, pool: Pool, learner: str, scales: Array, fit: Fit) -> None:
        """`learner` is its name, for messages; `fit` learns from labelled examples and looks at the whole pool."""
        self._factors = np.full(pool.n_kernels, 1.0 / pool.n_kernels) / scales
        super().__init__(pool.diagonal(self._factors))
        self.pool, self.learner, self._fit = pool, learner, fit
        self.noise_variance = 0.0
        self._fitted: Learner | None = None
        self._mean, self._variance = np.zeros((len(pool), 0)), self.diagonal.copy()

    @property
    def mean(self) -> Array:
        self._refit()
        return self._mean

    @property
    def variance(self) -> Array:
        self._refit()
        return self._variance

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self._factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        raise InvalidInput(
            f"covariances: the learner must be a Gaussian process to know them, got {self.learner} without covariances."
        )

    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        return softmax(mean)

    def append(self, position: int, label: Answer) -> None:
        super().append(position, label)
        self._forget()

    def take_back(self) -> Answer:
        label = super().take_back()
        self._forget()
        return label

    def _forget(self) -> None:
        self._fitted = None

    def closed_form(self) -> None:
        return None

    def fitted(self) -> Learner | None:
        """The learner, fitted on the labelled examples; None without any."""
        self._refit()
        return self._fitted

    def _refit(self) -> None:
        if self._fitted is not None:
            return
        if not self.classes:
            self._mean, self._variance = np.zeros((len(self.pool), 0)), self.diagonal.copy()
            return
        self._fitted, latent = self._fit(self.positions, with_outsiders(self.labels))
        known = self._fitted.classes_.tolist()
        self._mean = latent.mean[:, [known.index(label) for label in self.classes]]
        self._variance = latent.std[:, 0] ** 2
