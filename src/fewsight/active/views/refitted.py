"""A pool as any kernel learner sees it, fitted again when something is read after labels came."""

from __future__ import annotations

from typing import final

import numpy as np
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.base import Label
from fewsight.active.views.labelled import LabelledView
from fewsight.learners import KernelLearner
from fewsight.learners.probability import softmax


@final
class RefittedView(LabelledView):
    """Like `PoolView` for learners that cannot take in one label: support vector machines, nearest neighbours."""

    def __init__(self, pool: Pool, learner: KernelLearner, scales: Array) -> None:
        self._factors = np.full(pool.n_kernels, 1.0 / pool.n_kernels) / scales
        super().__init__(pool.diagonal(self._factors))
        self.pool, self.learner = pool, clone(learner).set_params(kernel="precomputed")
        self.noise_variance = 0.0
        self._fitted: KernelLearner | None = None
        self._mean, self._variance = np.zeros((len(pool), 0)), self._diagonal.copy()

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
            f"covariances: the learner must be a Gaussian process to know them, got {type(self.learner).__name__} without "
            "covariances."
        )

    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        return softmax(mean)

    def append(self, position: int, label: Label) -> None:
        super().append(position, label)
        self._forget()

    def take_back(self) -> Label:
        label = super().take_back()
        self._forget()
        return label

    def _forget(self) -> None:
        self._fitted = None

    def closed_form(self) -> None:
        return None

    def fitted(self) -> KernelLearner | None:
        """The learner, fitted on Gram matrices of the labelled examples; None without any."""
        self._refit()
        return self._fitted

    def _refit(self) -> None:
        if self._fitted is not None:
            return
        if not self.labels:
            self._mean, self._variance = np.zeros((len(self.pool), 0)), self._diagonal.copy()
            return
        grams = self.pool.grams(self.positions)
        columns = [part.T for part in self.pool.parts(self.positions)]
        several = len(grams) > 1
        self._fitted = clone(self.learner).fit(grams if several else grams[0], np.array(self.labels))
        latent = self._fitted.latent(columns if several else columns[0])
        known = self._fitted.classes_.tolist()
        self._mean = latent.mean[:, [known.index(label) for label in self.classes]]
        self._variance = latent.std[:, 0] ** 2
