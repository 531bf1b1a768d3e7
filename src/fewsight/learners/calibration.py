"""Probabilities that mean what they say, learned from the training examples alone.

Latent values of left-out training examples (in closed form, see `folds`) show how often the largest one is right. Two numbers are
fitted to that by maximum posterior probability. With contrast = largest latent mean - mean over all classes,

    P(class) = softmax(exp(sharpness) * contrast^bend * mean).

`bend` lets confidence grow more slowly (or faster) than the latent values do. With few examples the prior decides.

Where classes differ in size, latent values lean towards the large ones, by how much depends on the noise. A third number, the
`lean`, times the logarithm of each class's share is added then; fitted with every class counting the same (`balanced`), it takes
the lean away, so that decisions and probabilities are those of classes that are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from fewsight._base.types import Array, Indices, State

# Mean and standard deviation of sharpness and bend. The means are those found on Caltech-101, seeds 100 and 101, with 3 to 15
# examples per class; the deviations leave room for other kernels and for two classes.
PRIOR_MEAN = np.array([2.3, -0.35])
PRIOR_STD = np.array([1.0, 0.5])
LEAN_STD = 3.0  # its mean is 0: nothing is known of it
LEAST_CONTRAST = 1e-6
LARGEST_LEANING = 1e6
MOST_EXAMPLES = 2**53
LARGEST = 20.0  # of either, without its sign, in a model file: fitted ones stay near the prior


@dataclass(frozen=True)
class Calibration:
    """How latent values become probabilities; `n_examples` says how many left-out examples it was fitted to."""

    sharpness: float = float(PRIOR_MEAN[0])
    bend: float = float(PRIOR_MEAN[1])
    n_examples: int = 0
    leanings: tuple[float, ...] = ()  # what is added for each class before the softmax; empty where that is nothing

    @property
    def from_prior(self) -> bool:
        """Whether no example could be left out, so that the prior alone speaks."""
        return self.n_examples == 0

    def probabilities(self, mean: Array) -> Array:
        """From latent means (m, c)."""
        scores = self.scores(mean)
        return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))

    def scores(self, mean: Array) -> Array:
        """Logarithms of the probabilities up to a constant for each example: the largest is the class to decide for."""
        added = np.zeros(mean.shape[1])
        added[: len(self.leanings)] = self.leanings  # a class that came later leans nowhere
        return _logits(np.array([self.sharpness, self.bend]), mean, np.log(_contrast(mean))) + added

    def state(self) -> State:
        header = {"sharpness": self.sharpness, "bend": self.bend, "n_examples": self.n_examples}
        return State({**header, "leanings": list(self.leanings)} if self.leanings else header, {})

    @classmethod
    def from_state(cls, state: State) -> Calibration:
        return cls(
            state.number("sharpness", least=-LARGEST, most=LARGEST),
            state.number("bend", least=-LARGEST, most=LARGEST),
            state.integer("n_examples", most=MOST_EXAMPLES),
            state.numbers("leanings", least=-LARGEST_LEANING, most=LARGEST_LEANING) if "leanings" in state else (),
        )


def fit_calibration(
    mean: Array, classes: Indices, shares: Array | None = None, *, balanced: bool = False
) -> Calibration:
    """The calibration under which left-out examples of these classes are most probable, together with the prior.

    `shares` are those of the classes among all training examples, where decisions may lean to some; `balanced` lets every
    class count the same.
    """
    if not len(mean) or mean.shape[1] < 2:
        return Calibration()
    logs = None if shares is None else np.log(np.maximum(shares, 1e-12))
    leaning = None if logs is None or np.ptp(logs) < 1e-9 else logs - logs.mean()
    weights = _even(classes) if balanced else np.ones(len(mean))
    surprise = _Surprise(mean, np.log(_contrast(mean)), classes, leaning, weights)
    start = PRIOR_MEAN if leaning is None else np.append(PRIOR_MEAN, 0.0)
    bounds = [(-LARGEST, LARGEST)] * len(start)
    best = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    leanings = () if leaning is None else tuple((best[2] * leaning).tolist())
    return Calibration(float(best[0]), float(best[1]), len(mean), leanings)


@dataclass(frozen=True, eq=False)
class _Surprise:
    """Minus the log posterior of the parameters and its gradient."""

    mean: Array  # (m, c)
    log_contrast: Array  # (m,)
    classes: Indices  # (m,)
    leaning: Array | None  # (c,)
    weights: Array  # (m,)

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        logits = _logits(parameters, self.mean, self.log_contrast)
        scores = logits if self.leaning is None else logits + parameters[2] * self.leaning
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        stated, rows = np.exp(logs), np.arange(len(logs))
        excess = self.weights * (np.einsum("ij,ij->i", stated, logits) - logits[rows, self.classes])
        slopes = [excess.sum(), excess @ self.log_contrast]
        if self.leaning is not None:
            slopes.append(self.weights @ (stated @ self.leaning - self.leaning[self.classes]))
        centre, spread = np.append(PRIOR_MEAN, 0.0), np.append(PRIOR_STD, LEAN_STD)
        apart = (parameters - centre[: len(parameters)]) / spread[: len(parameters)]
        value = float(-self.weights @ logs[rows, self.classes] + 0.5 * (apart @ apart))
        return value, np.array(slopes) + apart / spread[: len(parameters)]


def _even(classes: Indices) -> Array:
    """Weights such that all classes that occur count the same; their mean is 1."""
    _, places, counts = np.unique(classes, return_inverse=True, return_counts=True)
    return np.asarray(len(classes) / (len(counts) * counts[places]), dtype=np.float64)


def _contrast(mean: Array) -> Array:
    return np.maximum(mean.max(axis=1) - mean.mean(axis=1), LEAST_CONTRAST)


def _logits(parameters: Array, mean: Array, log_contrast: Array) -> Array:
    return np.exp(parameters[0] + parameters[1] * log_contrast)[:, None] * mean
