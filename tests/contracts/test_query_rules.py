"""What every query rule must satisfy: it is covered by standing in QUERY_RULES."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.active import QUERY_RULES, ActiveLearner, Margin, PoolView, Uncertainty
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier, NearestNeighbourClassifier, SVMClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
TRAIN, POOL = slice(0, 30), slice(30, 90)
LABELS = {1: np.array(["only"] * 30), 2: np.array(["a", "b"])[np.arange(30) % 2], 7: np.arange(30) % 7}


@pytest.fixture(params=[rule() for rule in QUERY_RULES.values()] + [Uncertainty("each"), Margin("each")], ids=repr)
def rule(request):
    return request.param


@pytest.fixture(params=LABELS)
def learner(request):
    return GPClassifier(RBF(scale=2.0), noise_variance=0.1).fit(X[TRAIN], LABELS[request.param])


@pytest.mark.parametrize("batch_size", [1, 5, 60, 1000])
def test_a_query_is_unique_in_the_pool_sorted_and_of_the_size_that_was_asked_for(rule, learner, batch_size):
    query = rule.query(learner, X[POOL], batch_size=batch_size)
    assert len(query) == min(batch_size, 60) == len(query.scores)
    assert len(set(query.indices.tolist())) == len(query)
    assert set(query.indices.tolist()) <= set(range(60))
    assert np.isfinite(query.scores).all()
    assert (np.diff(query.scores) <= 0).all()


@pytest.mark.parametrize("batch_size", [1, 5, 1000])
@pytest.mark.parametrize("n_classes", LABELS)
def test_pools_of_histograms_are_asked_about_as_all_others(rule, n_classes, batch_size):
    labels = [*LABELS[n_classes].tolist(), *[None] * 60]
    view = ActiveLearner(HistogramGPClassifier()).fit(np.abs(X), labels).view_
    query = rule.query(view, batch_size=batch_size)
    assert len(query) == min(batch_size, 60) == len(query.scores)
    assert len(set(query.indices.tolist())) == len(query)
    assert set(query.indices.tolist()) <= set(range(30, 90))
    assert np.isfinite(query.scores).all()
    assert (np.diff(query.scores) <= 0).all()


def test_the_same_seed_gives_the_same_answer_and_a_generator_will_do(rule, learner):
    first, again = (rule.query(learner, X[POOL], batch_size=4, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.indices, again.indices)
    np.testing.assert_array_equal(first.scores, again.scores)
    generated = rule.query(learner, X[POOL], batch_size=4, random_state=np.random.default_rng(7))
    np.testing.assert_array_equal(first.indices, generated.indices)


def test_asking_changes_neither_learner_nor_view(rule, learner):
    view = PoolView.of(learner, X[POOL])
    state, mean, variance = learner.state(), view.mean.copy(), view.variance.copy()
    rule.query(view, batch_size=3)
    rule.query(learner, X[POOL], batch_size=3)
    np.testing.assert_array_equal(view.mean, mean)
    np.testing.assert_array_equal(view.variance, variance)
    for name, array in learner.state().arrays.items():
        np.testing.assert_array_equal(array, state.arrays[name])


def test_only_examples_that_were_named_and_have_no_label_are_asked_about(rule, learner):
    view = PoolView.of(learner, X[POOL])
    view.append(3, learner.classes_[0].item())
    query = rule.query(view, among=[3, 5, 9, 9], batch_size=10)
    assert sorted(query.indices.tolist()) == [5, 9]


def test_a_class_that_comes_later_is_normal(rule, learner):
    view = PoolView.of(learner, X[POOL])
    view.append(0, "new" if learner.classes_.dtype.kind == "U" else 99)
    assert len(rule.query(view, batch_size=2)) == 2


def test_nothing_to_ask_is_said_and_no_error(rule, learner):
    view = PoolView.of(learner, X[POOL])
    query = rule.query(view, among=[])
    assert len(query) == 0
    assert query.state == "Nothing to ask among the examples that were named."
    for position in range(60):
        view.append(position, learner.classes_[0].item())
    assert rule.query(view).state == "Nothing left to ask: all 60 examples have a label."


def test_near_duplicates_do_not_share_a_batch_until_nothing_else_is_left(rule, learner):
    pool = np.repeat(X[POOL][:10], 6, axis=0)
    query = rule.query(learner, pool, batch_size=8)
    if rule.name != "random":  # whose batch is a fair sample, duplicates or not
        assert len(set((query.indices // 6).tolist())) == 8
    assert len(rule.query(learner, pool, batch_size=25)) == 25


def test_precomputed_gram_matrices_give_the_same_query(rule):
    K = RBF(scale=2.0).gram(X)
    by_rows = GPClassifier(RBF(scale=2.0), noise_variance=0.1).fit(X[TRAIN], LABELS[7])
    by_gram = GPClassifier("precomputed", noise_variance=0.1).fit(K[TRAIN, TRAIN], LABELS[7])
    expected = rule.query(by_rows, X[POOL], batch_size=6)
    found = rule.query(by_gram, K[POOL, TRAIN], batch_size=6, pool_gram=K[POOL, POOL])
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-8)


@pytest.mark.parametrize("kind", [SVMClassifier, NearestNeighbourClassifier])
@pytest.mark.parametrize("name", ["margin", "uncertainty", "random", "coverage"])
def test_learners_that_are_no_gaussian_processes_are_asked_by_rules_that_need_none(kind, name):
    learner = kind(RBF(scale=2.0)).fit(X[TRAIN], LABELS[7])
    assert len(QUERY_RULES[name]().query(learner, X[POOL], batch_size=5)) == 5


def test_every_rule_says_what_it_cannot_use(rule, learner):
    with pytest.raises(FewsightError, match="batch_size must be a whole number >= 1, got 0"):
        rule.query(learner, X[POOL], batch_size=0)
    with pytest.raises(FewsightError, match="random_state must be a whole number"):
        rule.query(learner, X[POOL], random_state="x")
    with pytest.raises(FewsightError, match="among must be positions from 0 to below 60"):
        rule.query(learner, X[POOL], among=[60])
    with pytest.raises(FewsightError, match="the examples of the pool must be given as well"):
        rule.query(learner)
    with pytest.raises(FewsightError, match="a fitted learner with `latent` must be given, got object"):
        rule.query(object(), X[POOL])
