"""Any fitted learner with `latent`, looking at examples as it is."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from fewsight._base.checks import check_matrix, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools import GramPool, ImagePool, Pool, VectorPool
from fewsight.active.views.base import Mask, View
from fewsight.learners import GPClassifier
from fewsight.learners.inputs import ChannelInput, VectorInput
from fewsight.learners.probability import softmax


@final
class FixedView(View):
    """What a fitted learner says about examples that have no label; none of it follows further labels.

    Without a pool that compares the examples, batches are not made diverse.
    """

    def __init__(self, learner: Any, examples: Any, pool: Pool | None = None) -> None:
        self.learner, self.pool = learner, pool
        latent = learner.latent(examples)
        self._mean, self._variance = np.asarray(latent.mean), np.asarray(latent.std)[:, 0] ** 2
        self._probabilities = learner.predict_proba(examples) if hasattr(learner, "predict_proba") else None
        self.classes = np.asarray(learner.classes_).tolist()
        self.noise_variance = float(np.mean(getattr(learner, "noise_variance_", 0.0)))
        side = getattr(learner, "input_", None)
        self._n_labelled = getattr(side, "n_training", 0) or len(getattr(learner, "labels_", ()))
        self._factors = np.ones(1) if pool is None else np.full(pool.n_kernels, 1.0 / pool.n_kernels) / scales_of(pool)
        self._diagonal = np.ones(len(self._mean)) if pool is None else pool.diagonal(self._factors)

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
    def unlabelled(self) -> Mask:
        return np.ones(len(self._mean), dtype=bool)

    @property
    def diagonal(self) -> Array:
        return self._diagonal

    @property
    def can_compare(self) -> bool:
        return self.pool is not None

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        if self.pool is None:
            raise InvalidInput(
                "FixedView: examples of the pool must be comparable with each other; with kernel 'precomputed', "
                "pass their Gram matrix as pool_gram."
            )
        return self.pool.block(rows, columns, self._factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        raise InvalidInput(
            f"FixedView: the learner must be a GPClassifier that knows covariances, got {owner_name(self.learner)}; "
            "with kernel 'precomputed', pass the pool's Gram matrix as pool_gram."
        )

    def probabilities(self, rows: Indices | None = None) -> Array:
        stated = softmax(self._mean) if self._probabilities is None else self._probabilities
        return stated if rows is None else stated[rows]


def scales_of(pool: Pool, positions: Indices | None = None) -> Array:
    """The mean diagonal of each kernel over the pool, or over some of it; 1 where that is zero."""
    diagonals = [diagonal if positions is None else diagonal[positions] for diagonal in pool.diagonals]
    means = np.array([float(diagonal.mean()) if len(diagonal) else 1.0 for diagonal in diagonals])
    return np.where(means > 0, means, 1.0)


def pool_of(learner: GPClassifier, examples: Any, pool_gram: Any = None) -> tuple[Pool, Array]:
    """New examples as a pool, and the kernel between them and a fitted learner's training examples (m, n)."""
    side = learner.input_
    rows = side.read(examples)
    K_pool = np.tensordot(learner.weights_, side.compare(rows), axes=1)
    if isinstance(side, VectorInput):
        return VectorPool(rows, side.kernel), K_pool
    if isinstance(side, ChannelInput):
        return ImagePool.encoded(side.channels, rows), K_pool
    if pool_gram is None:
        raise InvalidInput(
            "PoolView: with kernel 'precomputed' the pool's own Gram matrix must be given as pool_gram (m x m), got none."
        )
    pool = GramPool(pool_gram)
    check_matrix("PoolView", "pool_gram", pool.matrices[0], shape=(len(K_pool), len(K_pool)))
    return pool, K_pool
