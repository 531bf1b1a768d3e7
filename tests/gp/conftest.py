"""Random problems of Gaussian process regression, and their answers by explicit inverse."""

from dataclasses import dataclass

import numpy as np
import pytest


def rbf(X, Z):
    return np.exp(-0.5 * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


@dataclass
class Problem:
    """Training K, targets, noise; test points K_test with prior variances `diagonal`; `X` and `Z` are their inputs."""

    X: np.ndarray
    Z: np.ndarray
    targets: np.ndarray
    noise: np.ndarray

    @property
    def K(self):
        return 1.5 * rbf(self.X, self.X)

    @property
    def K_test(self):
        return 1.5 * rbf(self.Z, self.X)

    @property
    def diagonal(self):
        return np.full(len(self.Z), 1.5)

    @property
    def inverse(self):
        return np.linalg.inv(self.K + np.diag(self.noise))


@pytest.fixture(scope="session")
def make_problem():
    def make(n=12, n_targets=3, m=5, seed=0):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
        return Problem(X, Z, rng.normal(size=(n, n_targets)), rng.uniform(0.05, 0.5, size=n))

    return make


@pytest.fixture
def problem(make_problem):
    return make_problem()


def random_gram(n, seed, rank=5):
    A = np.random.default_rng(seed).normal(size=(n, rank))
    return A @ A.T


@pytest.fixture
def gram():
    """Makes a Gram matrix of that size, another one for every seed."""
    return random_gram


@pytest.fixture(params=[1, 2, 9, 40])
def grams(request):
    """Eleven Gram matrices of a few sizes."""
    return [random_gram(request.param, seed) for seed in range(11)]


@pytest.fixture
def columns(grams):
    """Three columns of numbers for these Gram matrices."""
    return np.random.default_rng(5).normal(size=(len(grams[0]), 3))
