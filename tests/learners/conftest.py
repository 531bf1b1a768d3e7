"""Examples that several tests share."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs


@pytest.fixture
def overlapping_blobs():
    """Makes classes that no learner can tell apart for certain: rows and classes to learn from and to test on."""
    return _overlapping_blobs


def _overlapping_blobs(seed, n_classes=8, per_class=12, n_test=100):
    """Classes that no learner can tell apart for certain."""
    centers = np.random.default_rng(99).normal(scale=4.0, size=(n_classes, 6))
    X, y = make_blobs([per_class + n_test] * n_classes, centers=centers, cluster_std=3.0, random_state=seed)
    train = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(n_classes)])
    test = np.setdiff1d(np.arange(len(y)), train)
    return X[train], y[train], X[test], y[test]
