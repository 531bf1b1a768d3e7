"""Criteria are what scikit-learn, or their definition, computes from left-out means and variances."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import average_precision_score, roc_auc_score

from fewsight.gp import paths_beside
from fewsight.kernels import RBF
from fewsight.transfer import CRITERIA
from fewsight.transfer.criteria import LEAST_SPREAD, SLOPE

RNG = np.random.default_rng(8)
K = RBF(scale=3.0).gram(RNG.normal(size=(24, 4)))
TARGETS = np.where(np.arange(16) < 4, 1.0, -1.0)
RHOS = np.array([[0.0, 0.3, 1.0]])


@pytest.fixture(scope="module")
def paths():
    """Sixteen examples of the target and the background, and a support task of eight."""
    return paths_beside(K, np.arange(16), TARGETS, [np.arange(16, 24)], 0.1)


def squashed(mean, variance):
    right = 1.0 / (1.0 + np.exp(-SLOPE * TARGETS * mean))
    return 0.5 * (right[TARGETS > 0].mean() + right[TARGETS < 0].mean())


def separation(mean, variance):
    background = mean[TARGETS < 0]
    return (mean[TARGETS > 0].mean() - background.mean()) / max(background.std(), LEAST_SPREAD)


DEFINITIONS = {
    "separation": separation,
    "average_precision": lambda mean, variance: average_precision_score(TARGETS > 0, mean),
    "roc_area": lambda mean, variance: roc_auc_score(TARGETS > 0, mean),
    "predictive_probability": lambda mean, variance: norm.logpdf(TARGETS, mean, np.sqrt(variance)).mean(),
    "squashed_probability": squashed,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_criterion_is_its_definition_at_every_correlation(name, paths):
    left_out = paths.leave_one_out(RHOS)
    found = CRITERIA[name](paths, RHOS, left_out)[0]
    expected = [DEFINITIONS[name](left_out.mean[0, :, column], left_out.variance[0, :, column]) for column in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_conditional_likelihood_is_that_of_the_target_given_the_support(paths):
    found = CRITERIA["conditional_likelihood"](paths, RHOS, paths.leave_one_out(RHOS))[0]
    factors = np.ones((3, 24, 24))
    factors[:, :16, 16:] = factors[:, 16:, :16] = RHOS[0][:, None, None]
    targets = np.concatenate([TARGETS, np.ones(8)])
    joint = [log_density(K * factor + 0.1 * np.eye(24), targets) for factor in factors]
    support = log_density(K[16:, 16:] + 0.1 * np.eye(8), np.ones(8))
    np.testing.assert_allclose(found, np.array(joint) - support, atol=1e-8)


def log_density(covariance, values):
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    return -0.5 * (values @ np.linalg.solve(covariance, values) + log_determinant + len(values) * np.log(2 * np.pi))


def test_without_two_background_examples_all_are_equally_separate():
    for n_background in (0, 1):
        targets = np.where(np.arange(4) < 4 - n_background, 1.0, -1.0)
        paths = paths_beside(K, np.arange(4), targets, [np.arange(16, 24)], 0.1)
        np.testing.assert_array_equal(CRITERIA["separation"](paths, RHOS, paths.leave_one_out(RHOS)), np.zeros((1, 3)))
