"""The average over support tasks and correlations is the sum of its parts, however they are divided into blocks."""

import numpy as np
import pytest
from scipy.special import softmax

from fewsight.gp import paths_beside
from fewsight.kernels import RBF
from fewsight.transfer import CRITERIA, LOG_WEIGHTS, Candidates
from fewsight.transfer.averaging import Averaging

RNG = np.random.default_rng(4)
X = np.vstack([RNG.normal(size=(20, 6)), RNG.normal(size=(3, 6)) + 1, RNG.normal(size=(26, 6)) + 0.8])
K = RBF(scale=2.0).gram(X)
TARGET = np.arange(23)
TARGETS = np.where(TARGET >= 20, 1.0, -1.0)
SUPPORTS = [np.arange(23, 33), np.arange(33, 38), np.arange(38, 49)]
RHOS = np.array([0.0, 0.5, 1.0])
NOISE = 0.05


def averaged(blocks, criterion="separation"):
    averaging = Averaging(criterion, RHOS)
    for block in blocks:
        paths = paths_beside(K, TARGET, TARGETS, [SUPPORTS[i] for i in block], NOISE)
        averaging.add(np.array(block), [len(SUPPORTS[i]) for i in block], paths)
    return averaging.result()


@pytest.mark.parametrize("criterion", LOG_WEIGHTS)
def test_it_is_the_weighted_sum_of_all_posterior_means(criterion):
    found = averaged([[0, 1, 2]], criterion)
    paths = paths_beside(K, TARGET, TARGETS, SUPPORTS, NOISE)
    grid = np.broadcast_to(RHOS, (3, 3))
    left_out = paths.leave_one_out(grid)
    weights = softmax(LOG_WEIGHTS[criterion](3, 23) * CRITERIA[criterion](paths, grid, left_out))
    own, lent = paths.weights(grid)
    np.testing.assert_allclose(found.own, np.einsum("jg,jmg->m", weights, own), atol=1e-12)
    for task, support in enumerate(SUPPORTS):
        np.testing.assert_allclose(found.lent[task], lent[task, : len(support)] @ weights[task], atol=1e-12)
    mean = np.einsum("jg,jmg->m", weights, left_out.mean)
    spread = np.einsum("jg,jmg->m", weights, left_out.variance + (left_out.mean - mean[None, :, None]) ** 2)
    np.testing.assert_allclose(found.left_out.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.left_out.variance, spread, atol=1e-10)
    np.testing.assert_allclose(found.shares, weights[:, 1:].sum(axis=1), atol=1e-12)
    assert found.alone == pytest.approx(weights[:, 0].sum())
    assert found.shares.sum() + found.alone == pytest.approx(1.0)


def test_blocks_make_no_difference():
    whole = averaged([[0, 1, 2]])
    for blocks in ([[0], [1], [2]], [[2, 0], [1]]):
        parts = averaged(blocks)
        np.testing.assert_allclose(parts.own, whole.own, atol=1e-12)
        np.testing.assert_allclose(parts.shares, whole.shares, atol=1e-12)
        np.testing.assert_allclose(parts.rho, whole.rho, atol=1e-12)
        np.testing.assert_allclose(np.concatenate(parts.lent), np.concatenate(whole.lent), atol=1e-12)


def test_weights_of_a_path_are_those_of_one_dense_solve():
    paths = paths_beside(K, TARGET, TARGETS, SUPPORTS, NOISE)
    own, lent = paths.weights(np.full((3, 1), 0.7))
    for task, support in enumerate(SUPPORTS):
        rows = np.concatenate([TARGET, support])
        factors = np.ones((len(rows), len(rows)))
        factors[:23, 23:] = factors[23:, :23] = 0.7
        A = K[np.ix_(rows, rows)] * factors + NOISE * np.eye(len(rows))
        expected = np.linalg.solve(A, np.concatenate([TARGETS, np.ones(len(support))]))
        np.testing.assert_allclose(own[task, :, 0], expected[:23], atol=1e-10)
        np.testing.assert_allclose(lent[task, : len(support), 0], 0.7 * expected[23:], atol=1e-10)


def test_the_least_noise_that_will_do_is_found():
    rows = np.concatenate([np.arange(len(K)), [23, 24]])  # two support examples twice: singular without noise
    candidates = Candidates(K[np.ix_(rows, rows)], TARGET, TARGETS, [np.array([23, 24, 49, 50])])
    average, noise = candidates.average("separation")
    assert 0 < noise <= 1e-6
    assert np.isfinite(average.own).all()
