"""The answer that leaves the fewest errors."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import PoolView, ValueOfInformation
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, SVMClassifier

RNG = np.random.default_rng(1)

X = RNG.normal(size=(70, 3))

Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2, balanced=False).fit(X[:20], Y[:20])


def test_the_value_of_information_is_the_fall_of_expected_errors_by_brute_force(learner):
    view = PoolView.of(learner, X[20:])
    rule = ValueOfInformation(n_candidates=50, n_sample=1_000, n_answers=3)
    query = rule.query(view, batch_size=1)
    best = int(query.indices[0])

    def errors():
        return (1 - view.probabilities().max(axis=1)).sum()

    before, chances, after = errors(), view.probabilities()[best], 0.0
    kept = chances >= 0.02
    for label, chance in zip(learner.classes_[kept].tolist(), chances[kept], strict=True):
        view.append(best, label)
        after += chance * errors()
        view.take_back()
    np.testing.assert_allclose(query.scores[0], before - after / chances[kept].sum(), atol=1e-8)


def test_the_value_of_information_needs_covariances():
    learner = SVMClassifier(RBF(scale=1.5)).fit(X[:20], Y[:20])
    with pytest.raises(InvalidInput, match=r"must be a GPClassifier, .* got SVMClassifier without covariances"):
        ValueOfInformation().query(learner, X[20:])
