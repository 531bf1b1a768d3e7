"""Labels of four classes, guesses and probabilities."""

import numpy as np
import pytest

CLASSES = ["ant", "bee", "cat", "dog"]


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    truth = rng.choice(np.array(CLASSES, dtype=object), 300, p=[0.5, 0.3, 0.15, 0.05])
    probabilities = rng.dirichlet(np.ones(4), 300)
    return truth, np.array(CLASSES, dtype=object)[probabilities.argmax(axis=1)], probabilities
