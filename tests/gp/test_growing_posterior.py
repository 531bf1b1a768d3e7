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
    grown.condition(K[:20, :20] + NOISE * np.eye(20), K[:20], TARGETS[:20])
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


class Columns:
    """All columns of K, as a pool would keep them."""

    def first(self, positions, start=0):
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
