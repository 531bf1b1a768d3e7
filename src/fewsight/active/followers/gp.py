"""A Gaussian process on a pool: exact after every label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_positive, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.active.followers.base import Certainty, Follower, LeftOut, Recorded
from fewsight.active.views import Hyperparameters, Labelled, LabelledView, PoolView
from fewsight.channels import check_weights
from fewsight.learners import GPClassifier
from fewsight.learners.sharpness import USUAL_NOISE
from fewsight.learners.stability import can_tell, some_unlabelled


@final
@dataclass(frozen=True)
class LearnedKernel:
    """Weights, scales and noise of a Gaussian process on a pool."""

    weights: Array  # (k,)
    scales: Array  # (k,)
    noise_variance: float


@final
class GPFollower(Follower[LearnedKernel]):
    """Follows with `PoolView`; weights and noise are learned as `GPClassifier` learns them.

    The largest latent mean decides, now and after each of the last answers: prototypes of the classes change with every label.
    """

    template: GPClassifier

    def plain(self) -> LearnedKernel:
        """Kernels are scaled by the pool's mean diagonal."""
        learner, k = self.template, self.pool.n_kernels
        given = learner.noise_variance
        noise = USUAL_NOISE if isinstance(given, str) else check_positive(learner, "noise_variance", given)
        if not isinstance(learner.weights, str):
            weights = check_weights(learner, learner.weights, k)
        else:
            weights = learner.starting_weights(k) if learner.weights == "evidence" else np.full(k, 1.0 / k)
        return LearnedKernel(weights, self.pool.scales(self.known), noise)

    def _learn(self, labelled: Labelled) -> LearnedKernel:
        learner = self.template
        learns_weights = isinstance(learner.weights, str) and self.pool.n_kernels > 1
        if not isinstance(learner.noise_variance, str) and not learns_weights:
            return self.plain()
        grams = self.pool.grams(np.array(labelled.positions, dtype=np.intp))
        means = np.array([float(gram.diagonal().mean()) for gram in grams])
        scales = np.where(means > 0, means, 1.0)
        scaled = [gram / scale for gram, scale in zip(grams, scales, strict=True)]
        targets = labelled._replace(classes=sorted(labelled.classes)).targets()
        weights, noise = learner.weights_and_noise(scaled, targets)
        return LearnedKernel(weights, scales, noise)

    def view(self, settings: LearnedKernel) -> PoolView:
        factors = settings.weights / settings.scales
        return PoolView(self.pool, Hyperparameters(factors, settings.noise_variance, bool(self.template.balanced)))

    def learner(self, labelled: Labelled, settings: LearnedKernel) -> GPClassifier:
        model = clone(self.template).set_params(kernel=self.pool.parameter, prototypes=False)
        positions = np.array(labelled.positions, dtype=np.intp)
        model.forget_loans()
        model.classes_ = np.array(labelled.classes)
        model.weights_, model.noise_variance_ = settings.weights, settings.noise_variance
        model.input_ = self.pool.input_of(positions, settings.scales)
        model.note_width()
        view = self.view(settings)
        view.start(*labelled)
        model.posterior_ = view.closed_form().posterior()
        model.recalibrate()
        others = np.setdiff1d(self.known, positions)
        if self.template.calibrated and can_tell(len(positions), len(others), len(labelled.classes)):
            some, factors = some_unlabelled(others, len(labelled.classes)), view.settings.factors
            model.sharpen(self.pool.block(some, positions, factors), self.pool.block(some, some, factors))
        return model

    def certainty(self, labelled: Labelled, settings: LearnedKernel) -> Certainty:
        model = self.learner(labelled, settings)
        return Certainty(model.calibration_ if self.template.calibrated else None, model.novelty_)

    def left_out(self, view: LabelledView, settings: LearnedKernel) -> LeftOut:
        model = self.learner(view.labelled, settings)
        for category, loan in view.loans.items():
            model.borrow(category, loan.lender, loan.rho)
        mean, unknown = model.leave_one_out().mean, model.left_out_unknown()
        return LeftOut(mean, view.labelled.numbers(), model.calibration_, unknown)

    def record(self, settings: LearnedKernel) -> Recorded:
        weights, scales = settings.weights.tolist(), settings.scales.tolist()
        return {"weights": weights, "scales": scales, "noise_variance": float(settings.noise_variance)}

    def from_record(self, record: Recorded) -> LearnedKernel:
        k = self.pool.n_kernels
        scales = check_weights("records", _numbers(record, "scales"), k)
        noise = check_positive("records", "noise_variance", record["noise_variance"])
        weights = check_weights("records", _numbers(record, "weights"), k)
        return LearnedKernel(weights, scales, noise)


def _numbers(record: Recorded, name: str) -> list[float]:
    values = record.get(name)
    if not isinstance(values, (list, tuple)):
        raise InvalidInput(f"records: {name} of a re-learning must be a list of numbers, got {shown(values)}.")
    return list(values)
