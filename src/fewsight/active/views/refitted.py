"""A pool as any kernel learner sees it, fitted again when something is read after labels came."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.labelled import LabelledView
from fewsight.learners import KernelLearner
from fewsight.learners.probability import softmax


@final
class RefittedView(LabelledView):
    """Like `PoolView` for learners that cannot take in one label: support vector machines, nearest neighbours."""

    def __init__(self, pool: Pool, learner: KernelLearner, scales: Array) -> None:
        super().__init__()
        self.pool, self.learner = pool, clone(learner).set_params(kernel="precomputed")
        self.noise_variance = 0.0
        self._factors = np.full(pool.n_kernels, 1.0 / pool.n_kernels) / scales
        self._diagonal = pool.diagonal(self._factors)
        self._fitted: Any = None
        self._mean, self._variance = np.zeros((len(pool), 0)), self._diagonal.copy()

    @property
    def mean(self) -> Array:
        self._refit()
        return self._mean

    @property
    def variance(self) -> Array:
        self._refit()
        return self._variance

    @property
    def diagonal(self) -> Array:
        return self._diagonal

    def __len__(self) -> int:
        return len(self.pool)

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self._factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        raise InvalidInput(
            f"RefittedView: the learner must be a GPClassifier to know covariances, got {type(self.learner).__name__}."
        )

    def probabilities(self, rows: Indices | None = None) -> Array:
        stated = softmax(self.mean)
        return stated if rows is None else stated[rows]

    def _forget(self) -> None:
        self._fitted = None

    @property
    def fitted(self) -> Any:
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
