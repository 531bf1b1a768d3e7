"""Leaving out whole groups in closed form equals conditioning on the others."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, JitterWarning
from fewsight.gp import Posterior

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(24, 30))
K = ROOT @ ROOT.T / 30
TARGETS = RNG.choice([-1.0, 1.0], (24, 3))
NOISE = RNG.uniform(0.05, 0.5, 24)


@pytest.mark.parametrize(
    "groups", [np.arange(24), np.arange(24) % 5, np.repeat([0, 1], 12), np.array(["a"] * 1 + ["b"] * 23)]
)
def test_each_group_is_predicted_from_all_others(groups):
    left_out = Posterior.condition(K, TARGETS, NOISE).leave_group_out(groups)
    for group in np.unique(groups):
        out, kept = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        rest = Posterior.condition(K[np.ix_(kept, kept)], TARGETS[kept], NOISE[kept])
        np.testing.assert_allclose(left_out.mean[out], rest.mean(K[np.ix_(out, kept)]), atol=1e-8)
        latent = rest.variance(K[np.ix_(out, kept)], K.diagonal()[out])
        np.testing.assert_allclose(left_out.variance[out], latent + NOISE[out], atol=1e-8)


def test_groups_of_one_are_leave_one_out():
    posterior = Posterior.condition(K, TARGETS, NOISE)
    one, group = posterior.leave_one_out(), posterior.leave_group_out(np.arange(24))
    np.testing.assert_allclose(group.mean, one.mean, atol=1e-10)
    np.testing.assert_allclose(group.variance, one.variance, atol=1e-10)


def test_groups_of_another_length_are_refused():
    with pytest.raises(InvalidInput, match=r"groups must have one entry per example, 24, got \(3,\)"):
        Posterior.condition(K, TARGETS, NOISE).leave_group_out([1, 2, 3])


def test_the_covariance_comes_back_from_the_factor():
    np.testing.assert_allclose(Posterior.condition(K, TARGETS, NOISE).covariance(), K, atol=1e-12)


def test_the_prior_variances_come_back_from_the_factor():
    np.testing.assert_allclose(Posterior.condition(K, TARGETS, NOISE).prior_variance, K.diagonal(), atol=1e-12)


def test_jitter_is_no_part_of_what_comes_back():
    values, vectors = np.linalg.eigh(K)
    indefinite = (vectors * np.append(-1e-4, values[1:])) @ vectors.T
    with pytest.warns(JitterWarning):
        posterior = Posterior.condition(indefinite, TARGETS, 1e-4 * NOISE)
    assert posterior.jitter > 1e-7
    np.testing.assert_allclose(posterior.covariance(), indefinite, atol=1e-12)
    np.testing.assert_allclose(posterior.prior_variance, indefinite.diagonal(), atol=1e-12)


def test_jitter_of_some_examples_is_taken_from_these():
    doubled = np.append(np.arange(24), 0)
    wide = K[np.ix_(doubled, doubled)]
    wide[-1, -1] -= 1e-3
    posterior = Posterior.condition(K, TARGETS, 1e-6)
    with pytest.warns(JitterWarning):
        posterior = posterior.append(wide[-1:, :-1], wide[-1:, -1:], TARGETS[:1], 1e-6)
    assert posterior.jitters[-1] > 1e-7
    assert not posterior.jitters[:-1].any()
    np.testing.assert_allclose(posterior.covariance(), wide, atol=1e-12)
    np.testing.assert_allclose(posterior.prior_variance, wide.diagonal(), atol=1e-12)
