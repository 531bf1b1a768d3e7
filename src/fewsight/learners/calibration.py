"""Probabilities that mean what they say, learned from the training examples alone.

Latent values of left-out training examples (in closed form, see `folds`) show how often the largest one is right. Two numbers are
fitted to that by maximum posterior probability. With contrast = largest latent mean - mean over all classes,

    P(class) = softmax(exp(sharpness) * contrast^bend * mean).

`bend` lets confidence grow more slowly (or faster) than the latent values do. With few examples the prior decides: `sharpness`
makes one that knows the task, for exact Gaussian processes.

Where it is asked for, latent means are compared with the prototypes of the classes first (`prototypes`), and what comes of that
takes their place; how much prototypes count is chosen by the same left-out examples.

Where classes differ in size, latent values lean towards the large ones, by how much depends on the noise. A third number, the
`lean`, times the logarithm of each class's share is added then; fitted with every class counting the same (`balanced`), it takes
the lean away, so that decisions and probabilities are those of classes that are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.learners.prototypes import STRENGTHS, Prototypes

LEAN_STD = 3.0  # its mean is 0: nothing is known of it
LEAST_CONTRAST = 1e-6
LARGEST_LEANING = 1e6
MOST_EXAMPLES = 2**53
LARGEST = 20.0  # of either, without its sign, in a model file: fitted ones stay near the prior


@dataclass(frozen=True)
class CalibrationPrior:
    """What is expected of sharpness and bend before any example is left out: means and standard deviations.

    Without anything else the means are those found on Caltech-101, seeds 100 and 101, with 3 to 15 examples per class; the
    deviations leave room for other kernels and for two classes.

    at_typical_contrast : whether the sharpness is that at the mean logarithm of the contrast, and not that at a contrast of 1.
    growth : added to the sharpness that was found, because more examples are known once none is left out.
    """

    sharpness: float = 2.3
    bend: float = -0.35
    sharpness_std: float = 1.0
    bend_std: float = 0.5
    at_typical_contrast: bool = False
    growth: float = 0.0

    def middle(self, log_contrast: Array) -> float:
        """The logarithm of the contrast at which the sharpness is expected."""
        return float(log_contrast.mean()) if self.at_typical_contrast and len(log_contrast) else 0.0


PLAIN_PRIOR = CalibrationPrior()


@dataclass(frozen=True)
class Calibration:
    """How latent values become probabilities; `n_examples` says how many left-out examples it was fitted to."""

    sharpness: float = PLAIN_PRIOR.sharpness
    bend: float = PLAIN_PRIOR.bend
    n_examples: int = 0
    leanings: tuple[float, ...] = ()  # what is added for each class before the softmax; empty where that is nothing
    prototypes: Prototypes | None = None  # None: the largest latent mean decides

    @property
    def from_prior(self) -> bool:
        """Whether no example could be left out, so that the prior alone speaks."""
        return self.n_examples == 0

    def values(self, mean: Array) -> Array:
        """What decides, from latent means (m, c): these, or how near they are to the prototypes."""
        return mean if self.prototypes is None else self.prototypes.values(mean)

    def left_out_values(self, mean: Array, classes: Indices) -> Array:
        """The same of training examples that were left out, which have no part in the prototypes of their own classes."""
        return mean if self.prototypes is None else self.prototypes.left_out_values(mean, classes)

    def probabilities(self, mean: Array) -> Array:
        """From latent means (m, c)."""
        return _softmax(self.scores(mean))

    def left_out_probabilities(self, mean: Array, classes: Indices) -> Array:
        """The same of training examples that were left out, see `left_out_values`."""
        return _softmax(self._scores(self.left_out_values(mean, classes)))

    def scores(self, mean: Array) -> Array:
        """Logarithms of the probabilities up to a constant for each example: the largest is the class to decide for."""
        return self._scores(self.values(mean))

    def _scores(self, values: Array) -> Array:
        added = np.zeros(values.shape[1])
        added[: len(self.leanings)] = self.leanings  # a class that came later leans nowhere
        return _logits(np.array([self.sharpness, self.bend]), values, np.log(_contrast(values))) + added

    def without_prototypes(self) -> Calibration:
        """As sure, but the largest latent mean decides."""
        return replace(self, prototypes=None)

    def check_classes(self, n_classes: int) -> None:
        """That it may be that of a learner of this many classes, when both come from a model file."""
        known = max(len(self.leanings), 0 if self.prototypes is None else len(self.prototypes.means))
        if known > n_classes:
            raise InvalidInput(f"the calibration must be of {n_classes} classes or fewer, got {known}.")

    def state(self) -> State:
        header = {"sharpness": self.sharpness, "bend": self.bend, "n_examples": self.n_examples}
        state = State({**header, "leanings": list(self.leanings)} if self.leanings else header, {})
        return state if self.prototypes is None else state.join("prototypes", self.prototypes.state())

    @classmethod
    def from_state(cls, state: State) -> Calibration:
        return cls(
            state.number("sharpness", least=-LARGEST, most=LARGEST),
            state.number("bend", least=-LARGEST, most=LARGEST),
            state.integer("n_examples", most=MOST_EXAMPLES),
            state.numbers("leanings", least=-LARGEST_LEANING, most=LARGEST_LEANING) if "leanings" in state else (),
            Prototypes.from_state(state.nested("prototypes")) if "prototypes" in state else None,
        )


class FittedCalibration(NamedTuple):
    """A calibration, and the logarithm of its posterior probability up to a constant of the prior."""

    calibration: Calibration
    log_posterior: float


def fit_calibration(
    mean: Array,
    classes: Indices,
    shares: Array | None = None,
    *,
    balanced: bool = False,
    prior: CalibrationPrior = PLAIN_PRIOR,
) -> Calibration:
    """The calibration under which left-out examples of these classes are most probable, together with the prior.

    `shares` are those of the classes among all training examples, where decisions may lean to some; `balanced` lets every
    class count the same.
    """
    return judged_calibration(mean, classes, shares, balanced=balanced, prior=prior).calibration


def judged_calibration(
    mean: Array,
    classes: Indices,
    shares: Array | None = None,
    *,
    balanced: bool = False,
    prior: CalibrationPrior = PLAIN_PRIOR,
    with_prototypes: bool = False,
) -> FittedCalibration:
    """As `fit_calibration`, with how probable it is: of several posteriors the one that predicts best has the most.

    `with_prototypes` compares latent means with prototypes of the classes first. How much these count is what makes the left-out
    examples most probable; no example has a part in the prototype that it is compared with.
    """
    if not len(mean) or mean.shape[1] < 2:
        return FittedCalibration(Calibration(prior.sharpness + prior.growth, prior.bend), 0.0)
    prototypes = Prototypes.of(mean, classes) if with_prototypes else None
    if prototypes is None:
        return _fitted(mean, classes, shares, balanced, prior)
    found = []
    for each in map(prototypes.with_strength, STRENGTHS):
        fitted = _fitted(each.left_out_values(mean, classes), classes, shares, balanced, prior)
        calibration = replace(fitted.calibration, prototypes=each if each.strength > 0 else None)
        found.append(FittedCalibration(calibration, fitted.log_posterior + each.log_prior))
    return max(found, key=lambda each: each.log_posterior)


def _fitted(
    values: Array, classes: Indices, shares: Array | None, balanced: bool, prior: CalibrationPrior
) -> FittedCalibration:
    """Sharpness, bend and leanings for the values (m, c) that decide."""
    logs = None if shares is None else np.log(np.maximum(shares, 1e-12))
    leaning = None if logs is None or np.ptp(logs) < 1e-9 else logs - logs.mean()
    weights = _even(classes) if balanced else np.ones(len(values))
    log_contrast = np.log(_contrast(values))
    middle = prior.middle(log_contrast)
    surprise = _Surprise(values, log_contrast - middle, classes, leaning, weights, prior)
    start = surprise.centre
    bounds = [(-LARGEST + abs(middle), LARGEST - abs(middle))] * len(start)
    found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds)
    best = found.x
    leanings = () if leaning is None else tuple((best[2] * leaning).tolist())
    sharpness = float(best[0]) - float(best[1]) * middle + prior.growth
    return FittedCalibration(Calibration(sharpness, float(best[1]), len(values), leanings), -float(found.fun))


@dataclass(frozen=True, eq=False)
class _Surprise:
    """Minus the log posterior of the parameters and its gradient."""

    mean: Array  # (m, c)
    log_contrast: Array  # (m,), less that at which the sharpness is meant
    classes: Indices  # (m,)
    leaning: Array | None  # (c,)
    weights: Array  # (m,)
    prior: CalibrationPrior = PLAIN_PRIOR

    @property
    def centre(self) -> Array:
        """What the prior expects of the parameters."""
        expected = [self.prior.sharpness, self.prior.bend]
        return np.array(expected if self.leaning is None else [*expected, 0.0])

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        logits = _logits(parameters, self.mean, self.log_contrast)
        scores = logits if self.leaning is None else logits + parameters[2] * self.leaning
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        stated, rows = np.exp(logs), np.arange(len(logs))
        excess = self.weights * (np.einsum("ij,ij->i", stated, logits) - logits[rows, self.classes])
        slopes = [excess.sum(), excess @ self.log_contrast]
        if self.leaning is not None:
            slopes.append(self.weights @ (stated @ self.leaning - self.leaning[self.classes]))
        spread = np.array([self.prior.sharpness_std, self.prior.bend_std, LEAN_STD])[: len(parameters)]
        apart = (parameters - self.centre) / spread
        value = float(-self.weights @ logs[rows, self.classes] + 0.5 * (apart @ apart))
        return value, np.array(slopes) + apart / spread


def _even(classes: Indices) -> Array:
    """Weights such that all classes that occur count the same; their mean is 1."""
    _, places, counts = np.unique(classes, return_inverse=True, return_counts=True)
    return np.asarray(len(classes) / (len(counts) * counts[places]), dtype=np.float64)


def _softmax(scores: Array) -> Array:
    return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


def _contrast(mean: Array) -> Array:
    return np.maximum(mean.max(axis=1) - mean.mean(axis=1), LEAST_CONTRAST)


def _logits(parameters: Array, mean: Array, log_contrast: Array) -> Array:
    return np.exp(parameters[0] + parameters[1] * log_contrast)[:, None] * mean
