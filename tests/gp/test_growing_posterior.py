"""Posteriors that grow label by label equal conditioning on all labels at once."""

import numpy as np
import pytest

from fewsight.gp import FreeMeanPosterior, GrowingPosterior
from fewsight.kernels import RBF

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
K = RBF(scale=1.5).gram(X)
TARGETS = np.where(RNG.integers(0, 3, 50)[:, None] == np.arange(3), 1.0, -1.0)
NOISE = 0.1


def dense(n, c=3):
    """Means and variances by inverting."""
    inverse = np.linalg.inv(K[:n, :n] + NOISE * np.eye(n))
    return K[:, :n] @ inverse @ TARGETS[:n, :c], 1.0 - np.einsum("ij,jk,ki->i", K[:, :n], inverse, K[:n])


@pytest.mark.parametrize("n", [1, 2, 16, 17, 40])  # 17: past the first room for rows
def test_appending_one_by_one_equals_the_definition(n):
    grown = GrowingPosterior(K.diagonal().copy())
    for position in range(n):
        grown.append(position, K[position].copy(), TARGETS[position], NOISE)
    mean, variance = dense(n)
    np.testing.assert_allclose(grown.mean, mean, atol=1e-10)
    np.testing.assert_allclose(grown.variance, variance, atol=1e-10)
    assert (grown.n, grown.n_columns) == (n, 3)


def test_conditioning_at_once_and_appending_agree_and_covariances_are_those_of_the_definition():
    grown = GrowingPosterior(K.diagonal().copy())
    grown.condition(K[:20, :20] + NOISE * np.eye(20), K[:20].copy(), TARGETS[:20])
    grown.append(20, K[20].copy(), TARGETS[20], NOISE)
    np.testing.assert_allclose(grown.mean, dense(21)[0], atol=1e-10)
    rows, columns = np.array([30, 31]), np.array([40, 41, 42])
    inverse = np.linalg.inv(K[:21, :21] + NOISE * np.eye(21))
    expected = K[np.ix_(rows, columns)] - K[rows][:, :21] @ inverse @ K[:21][:, columns]
    np.testing.assert_allclose(grown.covariance(K[np.ix_(rows, columns)], rows, columns), expected, atol=1e-10)


def test_a_class_that_is_new_had_minus_one_as_its_target_everywhere():
    grown = GrowingPosterior(K.diagonal().copy())
    for position in range(10):
        grown.append(position, K[position].copy(), np.array([1.0, -1.0]), NOISE)
    grown.append(10, K[10].copy(), np.array([-1.0, -1.0, 1.0]), NOISE)
    targets = np.tile([1.0, -1.0, -1.0], (11, 1))
    targets[10] = [-1.0, -1.0, 1.0]
    expected = K[:, :11] @ np.linalg.solve(K[:11, :11] + NOISE * np.eye(11), targets)
    np.testing.assert_allclose(grown.mean, expected, atol=1e-10)
    grown.take_back(2)
    expected = K[:, :10] @ np.linalg.solve(K[:10, :10] + NOISE * np.eye(10), targets[:10, :2])
    np.testing.assert_allclose(grown.mean, expected, atol=1e-10)


@pytest.mark.parametrize("n_before", [0, 3, 20])
@pytest.mark.parametrize("size", [1, 2, 17])
def test_a_block_equals_its_labels_one_by_one(n_before, size):
    targets = np.where(np.arange(40)[:, None] % 5 == np.arange(5), 1.0, -1.0)
    single, block = (GrowingPosterior(K.diagonal().copy()) for _ in range(2))
    for position in range(n_before):
        for grown in (single, block):
            grown.append(position, K[position].copy(), targets[position, :2], NOISE)
    where, before, ones = np.arange(n_before, n_before + size), [], []
    for position in where.tolist():
        ones.append(single.mean_of_ones[position])
        new = np.full(5 - single.n_columns, -single._of_ones[position])
        before.append(np.append(single.mean[position], new))
        single.append(position, K[position].copy(), targets[position], NOISE)
    told = block.append_block(where, K[where].copy(), targets[where], NOISE)
    np.testing.assert_allclose(block.mean, single.mean, atol=1e-12)
    np.testing.assert_allclose(block.variance, single.variance, atol=1e-12)
    np.testing.assert_allclose(told.mean, before, atol=1e-10)
    np.testing.assert_allclose(told.of_ones, ones, atol=1e-10)
    np.testing.assert_allclose(block.mean_of_ones, single.mean_of_ones, atol=1e-12)
    for grown in (single, block):
        grown.take_back(5)
    np.testing.assert_allclose(block.mean, single.mean, atol=1e-10)


class Columns:
    """All columns of K, as a pool would keep them."""

    def of(self, positions):
        return K[positions].astype(np.float32)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_with_a_free_mean_appending_equals_the_definition(n):
    grown = FreeMeanPosterior(Columns(), 2.0, NOISE, 2.0 * K.diagonal())
    grown.condition(np.arange(1), TARGETS[:1])
    for position in range(1, n):
        grown.append(position, TARGETS[position])
    A = 2.0 * K[:n, :n] + NOISE * np.eye(n)
    u = np.linalg.solve(A, np.ones(n))
    means = u @ TARGETS[:n] / u.sum()
    k = 2.0 * K[:, :n]
    variance = 2.0 - np.einsum("ij,ji->i", k, np.linalg.solve(A, k.T)) + (1.0 - k @ u) ** 2 / u.sum()
    np.testing.assert_allclose(
        grown.mean, k @ np.linalg.solve(A, TARGETS[:n] - means) + means, atol=1e-4
    )  # float32 columns
    np.testing.assert_allclose(grown.variance, variance, atol=1e-4)


@pytest.mark.parametrize("learned", ["at once", "one by one", "as a block"])
def test_points_that_come_later_are_as_if_they_had_been_there(learned):
    targets = np.where(np.arange(20)[:, None] % 4 == np.arange(4), 1.0, -1.0)
    whole, grown = GrowingPosterior(K.diagonal().copy()), GrowingPosterior(K.diagonal()[:30].copy())
    for posterior, m in ((whole, 50), (grown, 30)):
        if learned == "at once":
            posterior.condition(K[:20, :20] + NOISE * np.eye(20), K[:20, :m].copy(), targets)
        else:
            for i in range(8):
                posterior.append(i, K[i, :m].copy(), targets[i, : 1 + i // 2], NOISE)
            if learned == "as a block":
                posterior.append_block(np.arange(8, 20), K[8:20, :m].copy(), targets[8:20], NOISE)
    grown.widen(K.diagonal()[30:], np.arange(grown.n), K[: grown.n, 30:])
    for posterior in (whole, grown):
        posterior.append(40, K[40].copy(), np.array([1.0, -1.0, -1.0, -1.0, -1.0]), NOISE)
    np.testing.assert_allclose(grown.mean, whole.mean, atol=1e-10)
    np.testing.assert_allclose(grown.variance, whole.variance, atol=1e-10)
    for posterior in (whole, grown):
        posterior.take_back(4)
        posterior.take_back(4)
    np.testing.assert_allclose(grown.mean, whole.mean, atol=1e-10)
