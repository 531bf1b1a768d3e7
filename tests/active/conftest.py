"""Digits as rows of numbers: a pool that is small, quick and real."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewsight.active import GramPool
from fewsight.kernels import RBF


@pytest.fixture(scope="session")
def digits():
    """Rows (n, 64) and their digits, in random order."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(100).permutation(len(X))
    return X[order] / 16.0, y[order]


@pytest.fixture(scope="session")
def digit_gram(digits):
    """Their Gram matrix."""
    return RBF(scale=2.0).gram(digits[0])


@pytest.fixture(scope="session")
def digit_pool(digit_gram):
    return GramPool(digit_gram)
