"""Weights and noise of a Gaussian-process classifier: as they are given, or learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewsight._base.checks import check_choice, check_positive
from fewsight._base.types import Array
from fewsight.gp import learn_noise
from fewsight.learners.gp_state import checked_weights
from fewsight.learners.priors import starting_weights
from fewsight.learners.weight_search import SearchSettings, combine, noise_by_left_out

WAYS = ("left-out", "evidence")


def choose_weights_and_noise(
    classifier: Any, grams: list[Array], targets: Array, balance: Array
) -> tuple[Array, float]:
    """The weights of the Gram matrices and the noise variance that a classifier's parameters ask for."""
    fixed = fixed_noise(classifier)
    weights = _given(classifier, len(grams))
    if weights is None:
        prior = starting_weights(classifier, len(grams))
        noise = classifier.noise_variance if fixed is None else fixed
        found = combine(grams, targets, balance, SearchSettings(noise_variance=noise, prior=tuple(prior.tolist())))
        return found.weights[0], float(found.noise[0])
    if fixed is not None:
        return weights, fixed
    K = grams[0] * weights[0] if len(grams) == 1 else np.tensordot(weights, grams, axes=1)
    if classifier.noise_variance == "evidence":
        return weights, learn_noise(K, targets, balance=balance).level
    return weights, noise_by_left_out(K, targets, balance)


def fixed_noise(classifier: Any) -> float | None:
    """The noise variance that was given, or None for one that is learned."""
    if isinstance(classifier.noise_variance, str):
        check_choice(classifier, "noise_variance", classifier.noise_variance, WAYS)
        return None
    return check_positive(classifier, "noise_variance", classifier.noise_variance)


def _given(classifier: Any, count: int) -> Array | None:
    """Weights that need not be learned, or None."""
    weights: str | Sequence[float] = classifier.weights
    if not isinstance(weights, str):
        return checked_weights(weights, count)
    check_choice(classifier, "weights", weights, ["average", "evidence"])
    return np.full(count, 1.0 / count) if weights == "average" or count == 1 else None
