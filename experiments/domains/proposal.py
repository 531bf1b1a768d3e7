"""A posterior for labels that was chosen on many domains: balanced noise, and a sharpness whose prior knows the task.

Each category is a Gaussian process on targets +1 / -1, as in `GPClassifier`. What differs:

Noise. N_ii = noise * (c n_c / n)^(1 + 1 / n_min) for an example of a category with n_c of the n labels, n_min being the smallest
n_c: rare categories count as much as others [Rodner2012, section 3], and a little more while they have few labels, for they
cover less of what they look like.

Sharpness. P = softmax(exp(sharpness + bend * log contrast) * mean), as in `fewsight.learners.calibration`. At the typical
contrast the sharpness is expected to be

    2.3 - 0.2 ln(c) - 0.28 ln(labels per category) - 0.5 ln(scale * (v + noise)),

where `scale` is the factor of kernel and noise that makes the targets most probable (with a free mean) and v the mean variance
of a left-out example: latent means are measured in standard deviations of what they predict. Left-out examples, in which all
categories weigh alike, correct that. Another noise is expected to spread the logits of left-out examples as far as the usual one.

Width. The Gaussian compares vectors of unit length at an absolute squared scale, for images that a network finds all alike are
hard to tell apart; the evidence must speak for another one by two nats for each octave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from experiments.domains.peers import Answers
from experiments.domains.tasks import Task
from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior, log_evidence_and_gradients
from fewsight.kernels.rbf import squared_distances
from fewsight.learners.calibration import Calibration
from fewsight.learners.folds import left_out_folds

WIDTHS, USUAL_WIDTH, NATS_PER_OCTAVE = (0.36, 0.72, 1.44, 2.88), 1.44, 2.0  # squared scales
MOST_ROWS = 600  # that the width is learned from
NOISES, USUAL_NOISE, NATS = (0.02, 0.06, 0.2, 0.6), 0.2, 1.0  # NATS for a noise ten times the usual
SHARPNESS, PER_CATEGORIES, PER_LABELS = 2.3, 0.2, 0.28
SHARPNESS_STD, BEND_STD = 0.35, 0.2
LEAST_LABELS = 0.7  # in the logarithm
LEAST_CONTRAST = 1e-6


@dataclass(frozen=True)
class Fitted:
    """A posterior and how its means become probabilities."""

    posterior: Posterior
    calibration: Calibration
    noise: float

    def probabilities(self, K_test: Array) -> Array:
        """Of each category, (m, c)."""
        return self.calibration.probabilities(self.posterior.mean(K_test))


def proposed(task: Task) -> Answers:
    """What the proposal says about the test rows."""
    distances = squared_distances(task.train, None)
    width = chosen_width(distances, task.codes)
    fitted = fit(np.exp(-distances / (2 * width)), task.codes)
    stated = fitted.probabilities(np.exp(-squared_distances(task.test, task.train) / (2 * width)))
    return Answers(stated, stated)


def chosen_width(distances: Array, codes: Indices) -> float:
    """The most probable squared scale, by the evidence of at most MOST_ROWS rows; the usual one with one label each."""
    if np.bincount(codes).max() < 2:
        return USUAL_WIDTH
    kept = _some_categories(codes)
    numbers = np.unique(codes[kept], return_inverse=True)[1]
    targets, noises = _targets(numbers), balance(numbers)
    squared = distances[np.ix_(kept, kept)]

    def value(width: float) -> float:
        K = np.exp(-squared / (2 * width))
        found = (
            log_evidence_and_gradients([K], np.ones(1), targets, noise * noises, free_mean=True, any_scale=True)
            for noise in NOISES
        )
        return max(each.value for each in found) - NATS_PER_OCTAVE * abs(np.log2(width / USUAL_WIDTH))

    return max(WIDTHS, key=value)


def fit(K: Array, codes: Indices) -> Fitted:
    """From a Gram matrix with a diagonal of one, and categories as numbers from 0."""
    usual = _condition(K, codes, USUAL_NOISE)
    unit = log_unit(usual)
    folds, kept = left_out_folds(K, codes)
    if not len(kept):
        return Fitted(usual, Calibration(expected_sharpness(codes) + unit, 0.0, 0), USUAL_NOISE)
    left = _LeftOut(codes[kept], expected_sharpness(codes, 1.0 - 1.0 / (folds.max() + 1)))
    posteriors = {noise: _condition(K, codes, noise) for noise in NOISES}
    means = {noise: posterior.leave_group_out(folds).mean[kept] for noise, posterior in posteriors.items()}
    spread = unit + left.expected + _log_spread(means[USUAL_NOISE])
    found = {noise: left.calibrate(mean, spread - _log_spread(mean)) for noise, mean in means.items()}
    best = max(NOISES, key=lambda noise: found[noise][1] - NATS * np.log10(noise / USUAL_NOISE) ** 2)
    sharpness, bend = found[best][0]
    grown = float(sharpness) + expected_sharpness(codes) - left.expected
    return Fitted(posteriors[best], Calibration(grown, float(bend), len(kept)), best)


def expected_sharpness(codes: Indices, share: float = 1.0) -> float:
    """In units of `log_unit`, when predicting from this share of the labels."""
    counts = np.bincount(codes)
    labels = share * float((counts**2).sum() / counts.sum())  # in the category of a typical example
    return (
        SHARPNESS - PER_CATEGORIES * float(np.log(len(counts))) - PER_LABELS * float(np.log(max(labels, LEAST_LABELS)))
    )


def log_unit(posterior: Posterior) -> float:
    """-ln of the standard deviation of what a latent mean predicts, at the scale that makes the targets most probable."""
    n, c = posterior.targets.shape
    ones = posterior.add_targets(np.ones((n, 1))).dual_weights[:, -1]
    misfit = float((posterior.targets * posterior.dual_weights).sum())
    scale = (misfit - float(((ones @ posterior.targets) ** 2).sum() / ones.sum())) / ((n - 1) * c)
    variance = np.maximum(posterior.leave_one_out().variance - posterior.noise_variance, 0.0).mean()
    return -0.5 * float(np.log(scale * (variance + USUAL_NOISE)))


class _LeftOut:
    """Examples that were left out, and the sharpness expected of them."""

    def __init__(self, codes: Indices, expected: float) -> None:
        self.codes, self.expected = codes, expected
        _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
        self.weights = len(codes) / (len(counts) * counts[places])  # all categories count the same

    def calibrate(self, mean: Array, centre: float) -> tuple[Array, float]:
        """Sharpness and bend of highest posterior probability, and its logarithm."""
        contrast = np.log(np.maximum(mean.max(axis=1) - mean.mean(axis=1), LEAST_CONTRAST))
        middle, rows, spreads = float(contrast.mean()), np.arange(len(mean)), np.array([SHARPNESS_STD, BEND_STD])

        def surprise(parameters: Array) -> tuple[float, Array]:
            logits = np.exp(parameters[0] + parameters[1] * (contrast - middle))[:, None] * mean
            logs = logits - logsumexp(logits, axis=1, keepdims=True)
            excess = self.weights * (np.einsum("ij,ij->i", np.exp(logs), logits) - logits[rows, self.codes])
            apart = (parameters - np.array([centre, 0.0])) / spreads
            value = -float(self.weights @ logs[rows, self.codes]) + 0.5 * float(apart @ apart)
            return value, np.array([excess.sum(), excess @ (contrast - middle)]) + apart / spreads

        start = np.array([centre, 0.0])
        found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=[(centre - 4, centre + 4), (-3, 3)])
        return np.array([found.x[0] - found.x[1] * middle, found.x[1]]), -float(found.fun)


def _condition(K: Array, codes: Indices, noise: float) -> Posterior:
    return Posterior.condition(K, _targets(codes), noise * balance(codes))


def balance(codes: Indices) -> Array:
    """Factors on the noise of each example; equal categories all get one."""
    counts = np.bincount(codes)
    shares = len(counts) * counts[codes] / len(codes)
    return np.asarray(shares ** (1.0 + 1.0 / counts.min()))


def _targets(codes: Indices) -> Array:
    return np.where(codes[:, None] == np.unique(codes), 1.0, -1.0)


def _log_spread(mean: Array) -> float:
    """Logarithm of the root mean square of means around their average over categories."""
    return 0.5 * float(np.log(np.maximum(mean.var(axis=1).mean(), LEAST_CONTRAST**2)))


def _some_categories(codes: Indices) -> Indices:
    """Rows of whole categories, drawn at random, until there are MOST_ROWS."""
    order = np.random.default_rng(0).permutation(int(codes.max()) + 1)
    enough = 1 + int(np.searchsorted(np.cumsum(np.bincount(codes)[order]), MOST_ROWS))
    return np.flatnonzero(np.isin(codes, order[: max(2, enough)]))
