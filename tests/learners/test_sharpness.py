"""What is expected of the sharpness before any example is left out, against brute force."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import make_blobs

from fewsight.gp import Posterior
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import fit_calibration
from fewsight.learners.folds import left_out_folds
from fewsight.learners.sharpness import (
    PER_KERNELS,
    USUAL_NOISE,
    ExpectedSpread,
    calibrate,
    expected_sharpness,
    left_out_means,
    log_spread,
    log_unit,
)

X, CLASSES = make_blobs(24, 3, centers=4, cluster_std=2.5, random_state=0)
K = RBF(scale=4.0).gram(X)
TARGETS = np.where(CLASSES[:, None] == np.arange(4), 1.0, -1.0)
FIRST = np.array([int(np.flatnonzero(label == CLASSES)[0]) for label in range(4)])  # one of each class


def usual_posterior(K=K, targets=TARGETS):
    return Posterior.condition(K, targets, USUAL_NOISE * K.diagonal().mean())


@pytest.mark.parametrize("factor", [1.0, 7.0])  # the unit does not depend on the scale of the kernel
def test_the_unit_is_the_evidence_scale_and_the_left_out_variance_by_brute_force(factor):
    posterior = usual_posterior(factor * K)
    A = K + np.diag(posterior.noise_variance / factor)
    ones, inverse = np.ones(len(K)), np.linalg.inv(A)
    P = inverse - np.outer(inverse @ ones, inverse @ ones) / (ones @ inverse @ ones)
    scale = np.trace(TARGETS.T @ P @ TARGETS) / ((len(K) - 1) * 4)
    rest = [np.delete(np.arange(len(K)), i) for i in range(len(K))]
    variances = [1 - K[i, r] @ np.linalg.solve(A[np.ix_(r, r)], K[r, i]) for i, r in enumerate(rest)]
    expected = -0.5 * np.log(scale * (np.mean(variances) + USUAL_NOISE))
    assert log_unit(posterior) == pytest.approx(expected, rel=1e-8)


def test_more_classes_and_more_labels_make_less_sharp():
    few, many = np.arange(2).repeat(5), np.arange(20).repeat(5)
    assert expected_sharpness(many) < expected_sharpness(few)
    assert expected_sharpness(np.arange(2).repeat(50)) < expected_sharpness(few)
    assert expected_sharpness(few, 0.8) > expected_sharpness(few)
    assert expected_sharpness(few) == expected_sharpness(np.where(few == 1, 7, 0))  # numbers that no example has


def test_left_out_means_are_those_of_learning_without_the_fold():
    posterior = usual_posterior()
    folds, kept = left_out_folds(K, CLASSES)
    found = left_out_means([posterior], folds, kept)
    for place, example in list(enumerate(kept))[:6]:
        rest = np.flatnonzero(folds != folds[example])
        A = K[np.ix_(rest, rest)] + np.diag(posterior.noise_variance[rest])
        np.testing.assert_allclose(found[place], K[example, rest] @ np.linalg.solve(A, TARGETS[rest]), atol=1e-10)


def test_without_anything_to_leave_out_the_training_examples_are_asked():
    small = usual_posterior(K[np.ix_(FIRST, FIRST)], TARGETS[FIRST])
    found = left_out_means([small], np.zeros(4, int), np.zeros(0, int))
    np.testing.assert_allclose(found, small.mean(K[np.ix_(FIRST, FIRST)]), atol=1e-12)


@pytest.mark.parametrize("rows", [np.arange(24), FIRST])
def test_another_noise_is_expected_to_spread_logits_as_far(rows):
    part, targets = K[np.ix_(rows, rows)], TARGETS[rows]
    folds, kept = left_out_folds(part, CLASSES[rows])
    usual = usual_posterior(part, targets)
    spread = ExpectedSpread.of([usual], folds, kept)
    logs = []
    for noise in (0.01, 1.0):
        mean = left_out_means([Posterior.condition(part, targets, noise)], folds, kept)
        logs.append(spread.prior(mean).sharpness + log_spread(mean))
    np.testing.assert_allclose(logs, spread.spread)


def test_one_example_of_each_class_has_the_sharpness_that_is_expected():
    """By the formula, and the same with another noise: probabilities must not depend on what was not measured."""
    gp = GPClassifier(RBF(scale=4.0)).fit(X[FIRST], CLASSES[FIRST])
    assert gp.noise_variance_ == USUAL_NOISE
    expected = 2.3 + 0.15 - 0.2 * np.log(4) + log_unit(gp.posterior_)
    assert gp.calibration_.sharpness == pytest.approx(expected)
    other = GPClassifier(RBF(scale=4.0), noise_variance=0.5).fit(X[FIRST], CLASSES[FIRST])
    np.testing.assert_allclose(other.predict_proba(X), gp.predict_proba(X), atol=0.1)
    assert not np.allclose(other.latent(X).mean, gp.latent(X).mean, atol=0.1)


def test_left_out_examples_correct_what_is_expected():
    """Between what is expected and what they say by themselves."""
    folds, kept = left_out_folds(K, CLASSES)
    usual = usual_posterior()
    mean = left_out_means([usual], folds, kept)
    prior = ExpectedSpread.of([usual], folds, kept).prior(mean)
    found = calibrate([usual], [usual], folds, kept, balanced=True).calibration
    wide = fit_calibration(mean, CLASSES[kept], balanced=True)
    contrast = np.exp(np.log(mean.max(axis=1) - mean.mean(axis=1)).mean())
    strengths = [c.sharpness + c.bend * np.log(contrast) for c in (found, wide)]
    ends = sorted([prior.sharpness + prior.growth, strengths[1] + prior.growth])
    assert ends[0] - 0.05 <= strengths[0] <= ends[1] + 0.05


def test_the_log_posterior_is_that_of_the_formula():
    folds, kept = left_out_folds(K, CLASSES)
    usual, posterior = usual_posterior(), Posterior.condition(K, TARGETS, 0.05)
    found = calibrate([posterior], [usual], folds, kept, balanced=False)
    mean = left_out_means([posterior], folds, kept)
    prior = ExpectedSpread.of([usual], folds, kept).prior(mean)
    contrast = np.log(mean.max(axis=1) - mean.mean(axis=1))
    logits = np.exp(found.calibration.sharpness - prior.growth + found.calibration.bend * contrast)[:, None] * mean
    likelihood = (logits - logsumexp(logits, axis=1, keepdims=True))[np.arange(len(kept)), CLASSES[kept]].sum()
    typical = found.calibration.sharpness - prior.growth + found.calibration.bend * contrast.mean()
    penalty = 0.5 * (((typical - prior.sharpness) / 0.35) ** 2 + (found.calibration.bend / 0.2) ** 2)
    assert found.log_posterior == pytest.approx(likelihood - penalty)


def test_added_kernels_are_expected_to_be_less_sharp_the_more_of_them_count():
    K_first, labels = K[np.ix_(FIRST, FIRST)], CLASSES[FIRST]
    linear = X[FIRST] @ X[FIRST].T + 10.0
    alone = GPClassifier("precomputed", noise_variance=0.2).fit(K_first, labels).calibration_
    first = (
        GPClassifier("precomputed", weights=[1.0, 0.0], noise_variance=0.2).fit([K_first, linear], labels).calibration_
    )
    assert first == alone
    posterior = usual_posterior(K_first, TARGETS[FIRST])
    left_out = left_out_folds(K_first, labels)
    found = [
        calibrate([posterior], [posterior], *left_out, balanced=False, n_kernels=n).calibration.sharpness
        for n in (1.0, 4.0)
    ]
    assert found[0] - found[1] == pytest.approx(PER_KERNELS * np.log(4.0))
