"""Histograms that tests of several folders learn from."""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Array
from fewsight.learners.labels import Labels


def words(n: int, n_classes: int, seed: int, width: int = 60, features: int = 40) -> tuple[Array, Labels]:
    """Bags of words of some classes, a row's class in turn, and rows that sum to one."""
    shares = np.random.default_rng(99).dirichlet(np.full(width, 0.8), n_classes)
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % n_classes
    usual = np.random.default_rng(98).dirichlet(np.full(width, 2.0))
    counts = np.array([rng.multinomial(features, 0.5 * shares[c] + 0.5 * usual) for c in classes])
    return counts / features, np.array(["ant", "bee", "cat", "dog"])[classes]


X, Y = words(180, 3, 0)
X_TEST, Y_TEST = words(90, 3, 1)
