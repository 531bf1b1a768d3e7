"""A small problem of several kernels, of which some help."""

import numpy as np
import pytest

from fewsight.learners.mkl import Task


def kernels_and_signs(n, k, seed=0):
    """Gaussians of two or three columns each; the first two columns decide, mostly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    signs = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    grams = []
    for number in range(k):
        columns = [0, 1] if number == 0 else rng.permutation(8)[: 2 + number % 2]
        squared = ((X[:, None, columns] - X[None, :, columns]) ** 2).sum(axis=2)
        grams.append(np.exp(-squared / np.median(squared)))
    return grams, signs


@pytest.fixture
def problem():
    """Twelve kernels of 80 examples, and three tasks."""
    grams, signs = kernels_and_signs(80, 12)
    rare = np.where(np.arange(80) % 9 == 0, 1.0, -1.0)
    return grams, [Task(signs, 2.0), Task(rare, 1000.0), Task(-signs, 0.05)]
