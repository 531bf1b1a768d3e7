"""A pool as a Gaussian process sees it: exact means and variances after every label, see `fewsight.gp.growing_posterior`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool, pool_of_input
from fewsight.active.views.base import Label
from fewsight.active.views.labelled import OUTSIDE, ClosedForm, LabelledView
from fewsight.gp import GrowingPosterior, Posterior
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples


@final
@dataclass(frozen=True)
class Hyperparameters:
    """All that a posterior needs beside examples and labels.

    factors : (k,), weight over scale of each kernel of the pool.
    balanced : whether examples of frequent classes get more noise, as in `GPClassifier`.
    """

    factors: Array
    noise_variance: float
    balanced: bool = False


@dataclass(frozen=True)
class _Outside:
    """Labelled examples that are not in the pool: covariance (n, n), noise and jitters (n,), kernel with the pool (n, m)."""

    covariance: Array
    noise: Array
    jitters: Array
    with_pool: Array

    def joined(self, K: Array, where: Indices, noise: Array) -> tuple[Array, Array]:
        """Covariance with noise of these and of pool examples `where`, whose kernel with the pool is K; and that of both."""
        noise = noise if len(where) else self.noise  # a learner that took in examples may have noise of its own
        beside = self.with_pool[:, where]
        among = np.block([[self.covariance, beside], [beside.T, K[:, where]]])
        jitters = np.concatenate([self.jitters, np.zeros(len(where))])
        return among + np.diag(noise + jitters), np.vstack([self.with_pool, K])


@final
class PoolView(LabelledView):
    """Means and variances of a pool under a Gaussian process; `append` and `take_back` change it, rules only read it.

    A label costs O(n m). With `balanced` it changes the noise of all others, so that all are learned again when something is
    read.
    """

    def __init__(self, pool: Pool, settings: Hyperparameters, calibration: Calibration | None = None) -> None:
        super().__init__(pool.diagonal(settings.factors))
        self.pool, self.settings, self.calibration = pool, settings, calibration
        self.noise_variance = settings.noise_variance
        self._grown: GrowingPosterior | None = GrowingPosterior(self.diagonal)  # None: to be learned when read
        self._outside: _Outside | None = None

    @classmethod
    def of(cls, learner: GPClassifier, examples: Examples, pool_gram: Array | None = None) -> PoolView:
        """The pool as a fitted `GPClassifier` sees it; for "precomputed", `examples` (m, n) and `pool_gram` (m, m)."""
        rows = learner.input_.read(examples)
        with_pool = np.tensordot(learner.weights_, learner.input_.compare(rows), axes=1).T
        settings = Hyperparameters(
            learner.weights_ / learner.input_.scales, learner.noise_variance_, bool(learner.balanced)
        )
        pool = pool_of_input(learner.input_, rows, pool_gram)
        view = cls(pool, settings, learner.calibration_ if learner.calibrated else None)
        posterior = learner.posterior_
        view.labels, view.classes = learner.labels_.tolist(), learner.classes_.tolist()
        view._positions = [OUTSIDE] * len(view.labels)
        view._outside = _Outside(posterior.covariance(), posterior.noise_variance, posterior.jitters, with_pool)
        view._forget()
        return view

    # What rules read.

    @property
    def mean(self) -> Array:
        return self._posterior.mean

    @property
    def variance(self) -> Array:
        return self._posterior.variance

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self.settings.factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        return self._posterior.covariance(self.kernel(rows, columns), rows, columns)

    # What changes it.

    def append(self, position: int, label: Label) -> None:
        """Learn one label, in O(n m)."""
        grown = None if self.settings.balanced else self._posterior
        super().append(position, label)
        if grown is not None:
            row = self.pool.rows(np.array([position]), self.settings.factors)[0]
            grown.append(
                position, row, np.where([known == label for known in self.classes], 1.0, -1.0), self.noise_variance
            )
        self._grown = grown

    def take_back(self) -> Label:
        grown, before = None if self.settings.balanced else self._posterior, list(self.classes)
        label = super().take_back()
        if before[: len(self.classes)] != self.classes:  # a column in the middle is gone
            grown = None
        if grown is not None:
            grown.take_back(len(self.classes))
        self._grown = grown
        return label

    def _forget(self) -> None:
        self._grown = None

    def closed_form(self) -> ClosedForm:
        positions = self.positions
        return ClosedForm(self.kernel(positions, positions), self.labelled.targets(), self.noise_of_labelled())

    def noise_of_labelled(self) -> Array:
        """The noise variance of each labelled example (n,), as all labels together make it."""
        if not self.settings.balanced:
            return np.full(self.n_labelled, self.noise_variance)
        counts = np.array([self.labels.count(label) for label in self.labels], dtype=np.float64)
        return self.noise_variance * len(self.classes) * counts / max(self.n_labelled, 1)

    @property
    def _posterior(self) -> GrowingPosterior:
        if self._grown is None:
            self._grown = self._conditioned()
        return self._grown

    def _conditioned(self) -> GrowingPosterior:
        """All labels learned at once."""
        where = self.positions[self.positions != OUTSIDE]
        K, targets, noise = (
            self.pool.rows(where, self.settings.factors),
            self.labelled.targets(),
            self.noise_of_labelled(),
        )
        if self._outside is None:
            among = K[:, where]
            jitters = Posterior.condition(among, targets, noise).jitters if len(where) else noise
            A = among + np.diag(noise + jitters)
        else:
            A, K = self._outside.joined(K, where, noise)
        grown = GrowingPosterior(self.diagonal)
        grown.condition(A, K, targets)
        return grown
