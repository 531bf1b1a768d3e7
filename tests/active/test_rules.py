"""What sets the rules apart from each other."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import Coverage, Margin, PoolView, Uncertainty, ValueOfInformation, Variance, VectorPool, simulate
from fewsight.active.rules import as_rule
from fewsight.active.views import Hyperparameters
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, SVMClassifier

RNG = np.random.default_rng(1)
X = RNG.normal(size=(70, 3))
Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 70)]


@pytest.fixture
def learner():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20])


def test_uncertainty_is_the_smallest_mean_over_deviation_of_the_noisy_label():
    """[Kapoor2010, eq. 10]"""
    learner = GPClassifier(RBF(scale=1.5), noise_variance=0.2).fit(X[:20], Y[:20] == "a")
    latent = learner.latent(X[20:])
    eq10 = np.abs(latent.mean[:, 1]) / np.sqrt(latent.std[:, 1] ** 2 + 0.2)
    query = Uncertainty().query(learner, X[20:], batch_size=1)
    assert query.indices[0] == np.argmin(eq10)
    np.testing.assert_allclose(query.scores[0], -eq10.min(), atol=1e-10)


def test_margin_and_variance_choose_by_themselves_alone(learner):
    latent = learner.latent(X[20:])
    ordered = np.sort(latent.mean, axis=1)
    assert Margin().query(learner, X[20:]).indices[0] == np.argmin(ordered[:, -1] - ordered[:, -2])
    assert Variance().query(learner, X[20:]).indices[0] == np.argmax(latent.std[:, 0])


def test_each_asks_once_for_every_problem_and_then_in_turn(learner):
    latent = learner.latent(X[20:])
    scores = np.abs(latent.mean) / np.sqrt(latent.std**2 + 0.2)
    best = set(np.argmin(scores, axis=0).tolist())
    query = Uncertainty("each").query(learner, X[20:], batch_size=None)
    assert len(query) == 3
    assert best <= set(query.indices.tolist())
    # With one question at a time, 20 labels make it the turn of problem 20 mod 3 = 2.
    assert Uncertainty("each").query(learner, X[20:]).indices[0] == np.argmin(scores[:, 2])


def test_coverage_needs_no_label_and_visits_every_cluster_first():
    centres = 20.0 * np.eye(6)
    pool = np.repeat(centres, 10, axis=0) + RNG.normal(size=(60, 6))
    view = PoolView(VectorPool(pool, RBF(scale=3.0)), Hyperparameters(np.ones(1), 0.1))
    query = Coverage().query(view, batch_size=6)
    assert sorted((query.indices // 10).tolist()) == [0, 1, 2, 3, 4, 5]
    view.append(int(query.indices[0]), "seen")
    assert Coverage().query(view, batch_size=1).indices[0] // 10 != query.indices[0] // 10


@pytest.mark.parametrize("rule", [Uncertainty(), Margin(), ValueOfInformation()])
def test_rules_that_need_a_label_say_so(rule):
    view = PoolView(VectorPool(X, RBF(scale=1.0)), Hyperparameters(np.ones(1), 0.1))
    with pytest.raises(InvalidInput, match="at least one example must have a label, got none; 'coverage'"):
        rule.query(view)


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


@pytest.mark.parametrize("rule", ["uncertainty", "margin", "value_of_information"])
def test_asking_beats_drawing_at_random_on_digits(digits, digit_pool, rule):
    learner = GPClassifier("precomputed", noise_variance=0.01)
    curves = {}
    for name in (rule, "random"):
        records = simulate(learner, digit_pool, digits[1], name, 50, seeds=(100, 101))
        curves[name] = np.mean([record["accuracy"] for record in records if record["labels"] == 60])
    assert curves[rule] > curves["random"] + 0.03


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
