"""Probabilities that mean what they say, learned from the training examples alone.

Latent values of left-out training examples (in closed form, see `folds`) show how often the largest one is right. Two numbers are
fitted to that by maximum posterior probability. With contrast = largest latent mean - mean over all classes,

    P(class) = softmax(exp(sharpness) * contrast^bend * mean).

`bend` lets confidence grow more slowly (or faster) than the latent values do. With few examples the prior decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from fewsight._base.checks import check_integer, check_number
from fewsight._base.types import Array, Indices, State

# Mean and standard deviation of sharpness and bend. The means are those found on Caltech-101, seeds 100 and 101, with 3 to 15
# examples per class; the deviations leave room for other kernels and for two classes.
PRIOR_MEAN = np.array([2.3, -0.35])
PRIOR_STD = np.array([1.0, 0.5])
LEAST_CONTRAST = 1e-6
LARGEST = 20.0  # of either, without its sign, in a model file: fitted ones stay near the prior


@dataclass(frozen=True)
class Calibration:
    """How latent values become probabilities; `n_examples` says how many left-out examples it was fitted to."""

    sharpness: float = float(PRIOR_MEAN[0])
    bend: float = float(PRIOR_MEAN[1])
    n_examples: int = 0

    @property
    def from_prior(self) -> bool:
        """Whether no example could be left out, so that the prior alone speaks."""
        return self.n_examples == 0

    def probabilities(self, mean: Array) -> Array:
        """From latent means (m, c)."""
        return np.exp(_log_probabilities(np.array([self.sharpness, self.bend]), mean))

    def state(self) -> State:
        return State({"sharpness": self.sharpness, "bend": self.bend, "n_examples": self.n_examples}, {})

    @classmethod
    def from_state(cls, state: State) -> Calibration:
        sharpness, bend, n_examples = (state.header[name] for name in ("sharpness", "bend", "n_examples"))
        return cls(
            check_number("calibration", "sharpness", sharpness, least=-LARGEST, most=LARGEST),
            check_number("calibration", "bend", bend, least=-LARGEST, most=LARGEST),
            check_integer("calibration", "n_examples", n_examples, least=0),
        )


def fit_calibration(mean: Array, classes: Indices) -> Calibration:
    """The calibration under which left-out examples of these classes are most probable, together with the prior."""
    if not len(mean) or mean.shape[1] < 2:
        return Calibration()

    rows = np.arange(len(mean))
    log_contrast = np.log(_contrast(mean))

    def surprise(parameters: Array) -> tuple[float, Array]:
        logits = _logits(parameters, mean, log_contrast)
        logs = logits - logsumexp(logits, axis=1, keepdims=True)
        apart = (parameters - PRIOR_MEAN) / PRIOR_STD
        excess = np.einsum("ij,ij->i", np.exp(logs), logits) - logits[rows, classes]
        gradient = np.array([excess.sum(), excess @ log_contrast]) + apart / PRIOR_STD
        return float(-logs[rows, classes].sum() + 0.5 * (apart @ apart)), gradient

    best = minimize(surprise, PRIOR_MEAN, jac=True, method="L-BFGS-B", bounds=[(-LARGEST, LARGEST)] * 2).x
    return Calibration(float(best[0]), float(best[1]), len(mean))


def _contrast(mean: Array) -> Array:
    return np.maximum(mean.max(axis=1) - mean.mean(axis=1), LEAST_CONTRAST)


def _logits(parameters: Array, mean: Array, log_contrast: Array) -> Array:
    return np.exp(parameters[0] + parameters[1] * log_contrast)[:, None] * mean


def _log_probabilities(parameters: Array, mean: Array) -> Array:
    logits = _logits(parameters, mean, np.log(_contrast(mean)))
    return logits - logsumexp(logits, axis=1, keepdims=True)
