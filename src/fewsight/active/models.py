"""From labels of a pool to a learner: what is learned at intervals, and the learner that a user takes away."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_positive
from fewsight._base.types import Array, Indices
from fewsight.active.assessment.stopping import gain_on_labelled
from fewsight.active.pools import Pool
from fewsight.active.views import HistogramView, Hyperparameters, PoolView, RefittedView, View, scales_of
from fewsight.channels import check_weights
from fewsight.gp import Posterior
from fewsight.learners import GPClassifier, KernelLearner
from fewsight.learners.labels import targets_of
from fewsight.learners.novelty import DEFAULT_RULE
from fewsight.learners.weight_search import PLAIN_NOISE

LEAST_TO_LEARN = 10  # labels; with fewer, noise and weights that are to be learned are the plain ones


@final
@dataclass(frozen=True)
class Learned:
    """Weights, scales and noise of a Gaussian process on a pool."""

    weights: Array  # (k,)
    scales: Array  # (k,)
    noise_variance: float
    balanced: bool

    @property
    def settings(self) -> Hyperparameters:
        return Hyperparameters(self.weights / self.scales, self.noise_variance, self.balanced)


def plain(learner: GPClassifier, pool: Pool, known: Indices) -> Learned:
    """What is given, and plain values for what is to be learned; kernels are scaled by the pool's mean diagonal."""
    k = pool.n_kernels
    weights = check_weights(learner, _weights_before_labels(learner, k), k)
    given = learner.noise_variance
    noise = PLAIN_NOISE if isinstance(given, str) else check_positive(learner, "noise_variance", given)
    return Learned(weights, scales_of(pool, known), noise, bool(learner.balanced))


def _weights_before_labels(learner: GPClassifier, k: int) -> Any:
    if not isinstance(learner.weights, str):
        return learner.weights
    return learner.starting_weights(k) if learner.weights == "evidence" else np.full(k, 1.0 / k)


def has_something_to_learn(learner: GPClassifier, pool: Pool) -> bool:
    """Whether noise or weights are left to the evidence."""
    return isinstance(learner.noise_variance, str) or (isinstance(learner.weights, str) and pool.n_kernels > 1)


def learned(learner: GPClassifier, pool: Pool, positions: Indices, labels: Sequence[Any]) -> Learned:
    """Weights and noise as the learner finds them on these examples."""
    grams = pool.grams(positions)
    prior = learner.starting_weights(len(grams)).tolist()
    fitted = clone(learner).set_params(
        kernel="precomputed", calibrated=False, prior_weights=prior, unknown_rule=DEFAULT_RULE
    )
    fitted.fit(grams if len(grams) > 1 else grams[0], np.array(labels))
    return Learned(fitted.weights_, fitted.input_.scales, fitted.noise_variance_, bool(learner.balanced))


def assembled(learner: GPClassifier, view: PoolView, found: Learned) -> GPClassifier:
    """A classifier with the posterior of the view, calibrated, that takes examples of the form in which the pool came."""
    model = clone(learner).set_params(kernel=view.pool.parameter)
    positions = view.positions
    model.forget_loans()
    model.classes_ = np.array(view.classes)
    model.weights_, model.noise_variance_ = found.weights, found.noise_variance
    model.input_ = view.pool.input_of(positions, found.scales)
    _set_width(model)
    targets = targets_of(np.array(view.labels), model.classes_)
    K = view.kernel(positions, positions)
    model.posterior_ = Posterior.condition(K, targets, view.noise_of_labelled())
    return model.recalibrate()


def gained_on(view: View) -> Callable[[int], int] | None:
    """How the labelled examples of a view gained, see `advise`; None for a learner that has no closed form."""
    if isinstance(view, HistogramView):
        K, targets, noise = view.labelled()
    elif isinstance(view, PoolView):
        positions, targets = view.positions, targets_of(np.array(view.labels), np.array(view.classes))
        K, noise = view.kernel(positions, positions), view.noise_of_labelled()
    else:
        return None
    return lambda n_before: gain_on_labelled(K, targets, noise, n_before)


def taken_away(view: RefittedView) -> KernelLearner:
    """The learner of a refitted view, taking examples of the form in which the pool came."""
    model = copy.copy(view.fitted)
    model.kernel = view.pool.parameter
    model.input_ = view.pool.input_of(view.positions, model.input_.scales)
    _set_width(model)
    return model


def _set_width(model: Any) -> None:
    if isinstance(model.input_.n_columns, int):
        model.n_features_in_ = model.input_.n_columns
