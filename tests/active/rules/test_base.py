"""What every rule does with what it is given."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import Coverage, Margin, PoolView, Uncertainty, ValueOfInformation, VectorPool, simulate
from fewsight.active.rules import as_rule
from fewsight.active.views import Hyperparameters
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

RNG = np.random.default_rng(1)

X = RNG.normal(size=(70, 3))

Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20])


@pytest.mark.parametrize("rule", [Uncertainty(), Margin(), ValueOfInformation()])
def test_rules_that_need_a_label_say_so(rule):
    view = PoolView(VectorPool(X, RBF(scale=1.0)), Hyperparameters(np.ones(1), 0.1))
    with pytest.raises(InvalidInput, match="at least one example must have a label, got none; 'coverage'"):
        rule.query(view)


def test_a_learner_on_gram_matrices_alone_is_asked_without_comparing_the_pool(learner):
    K = RBF(scale=1.5).gram(X)
    by_gram = GPClassifier("precomputed", noise_variance=0.2).fit(K[:20, :20], Y[:20])
    found = Uncertainty().query(by_gram, K[20:, :20], batch_size=3)
    assert found.indices[0] == Uncertainty().query(learner, X[20:]).indices[0]
    with pytest.raises(InvalidInput, match="pass their Gram matrix as pool_gram"):
        Coverage().query(by_gram, K[20:, :20])


def test_unknown_rules_and_options_are_refused():
    with pytest.raises(InvalidInput, match=r"rule must be one of 'uncertainty', .* got 'best'"):
        as_rule("ActiveLearner", "best")
    with pytest.raises(InvalidInput, match="mode must be one of 'overall', 'each', got 'all'"):
        Uncertainty("all")
    with pytest.raises(InvalidInput, match="n_sample must be a whole number from 1 to 100,000, got 0"):
        Coverage(n_sample=0)


@pytest.mark.slow
def test_a_rare_class_is_found_with_half_of_the_labels_that_random_needs(digits, digit_gram):
    rows = np.concatenate([np.flatnonzero(digits[1] != 8), np.flatnonzero(digits[1] == 8)[:16]])
    labels, K = digits[1][rows], digit_gram[np.ix_(rows, rows)]
    first = [int(np.flatnonzero(labels == digit)[0]) for digit in range(10) if digit != 8]
    learner = GPClassifier("precomputed", noise_variance=0.01)
    needed = {}
    for rule in ("uncertainty", "random"):
        records = simulate(learner, K, labels, rule, 250, start=first, seeds=range(100, 105))
        needed[rule] = sum(record["classes"] < 10 for record in records)
    assert needed["uncertainty"] <= 0.5 * needed["random"]


@pytest.mark.parametrize(
    "scores", [np.ones(3), np.ones((3, 2)), np.full(20, np.nan), np.float64(1.0), np.ones((20, 1, 1))]
)
def test_a_rule_without_a_finite_score_for_each_candidate_is_refused(scores, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(30, 2))
    learner = GPClassifier(RBF(scale=1.0)).fit(rows[:10], np.arange(10) % 2)
    monkeypatch.setattr(Margin, "_scores", lambda *given: scores)
    with pytest.raises(InvalidInput, match="Margin: _scores must give a finite number for each of 20 candidates, got"):
        Margin().query(learner, rows[10:])
