"""A Gaussian process on a pool: exact after every label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_positive
from fewsight._base.types import Array
from fewsight.active.followers.base import Follower, LeftOut, set_width
from fewsight.active.views import Hyperparameters, Labelled, LabelledView, PoolView
from fewsight.gp import Posterior
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import Calibration
from fewsight.learners.gp_state import checked_weights
from fewsight.learners.novelty import DEFAULT_RULE
from fewsight.learners.priors import starting_weights
from fewsight.learners.weight_search import PLAIN_NOISE


@final
@dataclass(frozen=True)
class LearnedKernel:
    """Weights, scales and noise of a Gaussian process on a pool."""

    weights: Array  # (k,)
    scales: Array  # (k,)
    noise_variance: float

    @property
    def factors(self) -> Array:
        return self.weights / self.scales


@final
class GPFollower(Follower[LearnedKernel]):
    """Follows with `PoolView`; weights and noise are learned as `GPClassifier` learns them."""

    template: GPClassifier

    def plain(self) -> LearnedKernel:
        """Kernels are scaled by the pool's mean diagonal."""
        learner, k = self.template, self.pool.n_kernels
        weights = learner.weights
        if isinstance(weights, str):
            weights = starting_weights(learner, k) if weights == "evidence" else np.full(k, 1.0 / k)
        given = learner.noise_variance
        noise = PLAIN_NOISE if isinstance(given, str) else check_positive(learner, "noise_variance", given)
        return LearnedKernel(checked_weights(weights, k), self.pool.scales(self.known), noise)

    def _learn(self, labelled: Labelled) -> LearnedKernel:
        learner = self.template
        learns_weights = isinstance(learner.weights, str) and self.pool.n_kernels > 1
        if not isinstance(learner.noise_variance, str) and not learns_weights:
            return self.plain()
        grams = self.pool.grams(np.array(labelled.positions, dtype=np.intp))
        prior = starting_weights(learner, len(grams)).tolist()
        fitted = clone(learner).set_params(
            kernel="precomputed", calibrated=False, prior_weights=prior, unknown_rule=DEFAULT_RULE
        )
        fitted.fit(grams if len(grams) > 1 else grams[0], np.array(labelled.labels))
        return LearnedKernel(fitted.weights_, fitted.input_.scales, fitted.noise_variance_)

    def view(self, settings: LearnedKernel) -> PoolView:
        balanced = bool(self.template.balanced)
        return PoolView(self.pool, Hyperparameters(settings.factors, settings.noise_variance, balanced))

    def learner(self, labelled: Labelled, settings: LearnedKernel) -> GPClassifier:
        model = clone(self.template).set_params(kernel=self.pool.parameter)
        positions = np.array(labelled.positions, dtype=np.intp)
        model.forget_loans()
        model.classes_ = np.array(labelled.classes)
        model.weights_, model.noise_variance_ = settings.weights, settings.noise_variance
        model.input_ = self.pool.input_of(positions, settings.scales)
        set_width(model)
        view = self.view(settings)
        view.start(*labelled)
        model.posterior_ = Posterior.condition(*view.closed_form())
        return model.recalibrate()

    def calibration(self, labelled: Labelled, settings: LearnedKernel) -> Calibration | None:
        return self.learner(labelled, settings).calibration_ if self.template.calibrated else None

    def left_out(self, view: LabelledView, settings: LearnedKernel) -> LeftOut:
        model = self.learner(view.labelled, settings)
        posterior = model.posterior_
        return LeftOut(posterior.leave_one_out().mean, posterior.targets.argmax(axis=1), model.calibration_)

    def record(self, settings: LearnedKernel) -> Mapping[str, float | list[float]]:
        weights, scales = settings.weights.tolist(), settings.scales.tolist()
        return {"weights": weights, "scales": scales, "noise_variance": float(settings.noise_variance)}

    def from_record(self, record: Mapping[str, float | list[float]]) -> LearnedKernel:
        k = self.pool.n_kernels
        scales = checked_weights(record["scales"], k)
        noise = check_positive("records", "noise_variance", record["noise_variance"])
        return LearnedKernel(checked_weights(record["weights"], k), scales, noise)
