"""What every query rule must satisfy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

import numpy as np

from fewsight._base.errors import FewsightError
from fewsight._base.types import Array
from fewsight.active import QUERY_RULES, ActiveLearner, PoolView, Query, QueryRule
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier, Learner, NearestNeighbourClassifier, SVMClassifier
from fewsight.learners.labels import Labels
from fewsight.testing.refusals import check_is, refusal

N_LABELLED, N_POOL = 30, 60
EXAMPLES: Array = np.random.default_rng(0).normal(size=(N_LABELLED + N_POOL, 4))
LABELLED, POOL = EXAMPLES[:N_LABELLED], EXAMPLES[N_LABELLED:]
LABELS: tuple[Labels, ...] = (  # of one category, of two and of seven
    np.array(["only"] * N_LABELLED),
    np.array(["a", "b"])[np.arange(N_LABELLED) % 2],
    np.arange(N_LABELLED) % 7,
)


def fitted(labels: Labels) -> GPClassifier:
    return GPClassifier(RBF(scale=2.0), noise_variance=0.1).fit(LABELLED, labels)


def learners() -> list[GPClassifier]:
    """Fitted ones that know one, two and seven categories."""
    return [fitted(labels) for labels in LABELS]


def _check_query(query: Query, size: int, allowed: Iterable[int]) -> None:
    assert len(query) == size == len(query.scores)
    assert len(set(query.indices.tolist())) == len(query), "no example may be asked about twice"
    assert set(query.indices.tolist()) <= set(allowed)
    assert np.isfinite(query.scores).all()
    assert (np.diff(query.scores) <= 0).all(), "the highest score must come first"


def it_is_registered_under_its_name(rule: QueryRule) -> None:
    name = type(rule).__name__
    assert QUERY_RULES.is_registered(type(rule)), f"{name} must be registered: fewsight.register({name})"
    assert (type(rule).__doc__ or "").strip(), "a query rule must have a docstring"


def a_query_is_unique_sorted_and_of_the_size_that_was_asked_for(rule: QueryRule) -> None:
    for learner in learners():
        for batch_size in (1, 5, N_POOL, 1000):
            query = rule.query(learner, POOL, batch_size=batch_size)
            _check_query(query, min(batch_size, N_POOL), range(N_POOL))


def pools_of_histograms_are_asked_about_as_all_others(rule: QueryRule) -> None:
    for labels in LABELS:
        view = ActiveLearner(HistogramGPClassifier()).fit(np.abs(EXAMPLES), [*labels.tolist(), *[None] * N_POOL]).view_
        for batch_size in (1, 5, 1000):
            query = rule.query(view, batch_size=batch_size)
            _check_query(query, min(batch_size, N_POOL), range(N_LABELLED, N_LABELLED + N_POOL))


def the_same_seed_gives_the_same_answer_and_a_generator_will_do(rule: QueryRule) -> None:
    for learner in learners():
        first, again = (rule.query(learner, POOL, batch_size=4, random_state=7) for _ in range(2))
        np.testing.assert_array_equal(first.indices, again.indices)
        np.testing.assert_array_equal(first.scores, again.scores)
        generated = rule.query(learner, POOL, batch_size=4, random_state=np.random.default_rng(7))
        np.testing.assert_array_equal(first.indices, generated.indices)


def asking_changes_neither_learner_nor_view(rule: QueryRule) -> None:
    for learner in learners():
        view = PoolView.of(learner, POOL)
        state, mean, variance = learner.state(), view.mean.copy(), view.variance.copy()
        rule.query(view, batch_size=3)
        rule.query(learner, POOL, batch_size=3)
        np.testing.assert_array_equal(view.mean, mean)
        np.testing.assert_array_equal(view.variance, variance)
        for name, array in learner.state().arrays.items():
            np.testing.assert_array_equal(array, state.arrays[name])


def only_examples_that_were_named_and_have_no_label_are_asked_about(rule: QueryRule) -> None:
    for learner in learners():
        view = PoolView.of(learner, POOL)
        view.append(3, learner.classes_[0].item())
        query = rule.query(view, among=[3, 5, 9, 9], batch_size=10)
        assert sorted(query.indices.tolist()) == [5, 9]


def a_category_that_comes_later_is_normal(rule: QueryRule) -> None:
    for learner in learners():
        view = PoolView.of(learner, POOL)
        view.append(0, "new" if learner.classes_.dtype.kind == "U" else 99)
        assert len(rule.query(view, batch_size=2)) == 2


def nothing_to_ask_is_said_and_no_error(rule: QueryRule) -> None:
    learner = fitted(LABELS[1])
    view = PoolView.of(learner, POOL)
    query = rule.query(view, among=[])
    assert len(query) == 0
    assert query.state == "Nothing to ask among the examples that were named."
    for position in range(N_POOL):
        view.append(position, learner.classes_[0].item())
    assert rule.query(view).state == f"Nothing left to ask: all {N_POOL} examples have a label."


def near_duplicates_do_not_share_a_batch_until_nothing_else_is_left(rule: QueryRule) -> None:
    pool = np.repeat(POOL[:10], 6, axis=0)
    for learner in learners():
        query = rule.query(learner, pool, batch_size=8)
        if rule.name != "random":  # whose batch is a fair sample, duplicates or not
            assert len(set((query.indices // 6).tolist())) == 8
        assert len(rule.query(learner, pool, batch_size=25)) == 25


def gram_matrices_give_the_same_query(rule: QueryRule) -> None:
    kernel = RBF(scale=2.0)
    by_gram = GPClassifier("precomputed", noise_variance=0.1).fit(kernel.gram(LABELLED), LABELS[2])
    expected = rule.query(fitted(LABELS[2]), POOL, batch_size=6)
    found = rule.query(by_gram, kernel.gram(POOL, LABELLED), batch_size=6, pool_gram=kernel.gram(POOL))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-8)


def learners_that_are_no_gaussian_processes_are_asked_or_refused_in_a_sentence(rule: QueryRule) -> None:
    others: tuple[type[Learner], ...] = (SVMClassifier, NearestNeighbourClassifier)
    for kind in others:
        learner = kind(RBF(scale=2.0)).fit(LABELLED, LABELS[2])
        with contextlib.suppress(FewsightError):  # a rule may need what only a posterior knows, and must say so
            _check_query(rule.query(learner, POOL, batch_size=5), 5, range(N_POOL))


def it_asks_for_an_active_learner(rule: QueryRule) -> None:
    learner = ActiveLearner(GPClassifier(RBF(scale=2.0), noise_variance=0.1), rule=rule)
    learner.fit(EXAMPLES, [*LABELS[2].tolist(), *[None] * N_POOL])
    for _ in range(3):
        (place,) = learner.query().indices.tolist()
        learner.teach(place, place % 7)
    assert len(learner.labels_) - learner.labels_.count(None) == N_LABELLED + 3


def what_it_cannot_use_is_refused(rule: QueryRule) -> None:
    learner = fitted(LABELS[1])
    with refusal("batch_size must be a whole number >= 1, got 0"):
        rule.query(learner, POOL, batch_size=0)
    with refusal("random_state must be a whole number"):
        rule.query(learner, POOL, random_state="x")  # type: ignore[arg-type]
    with refusal("among must be positions from 0 to below 60"):
        rule.query(learner, POOL, among=[N_POOL])
    with refusal("the examples of the pool must be given as well"):
        rule.query(learner)
    with refusal("a fitted learner with `latent` must be given, got object"):
        rule.query(object(), POOL)  # type: ignore[arg-type]


RULE_CHECKS: tuple[Callable[[QueryRule], None], ...] = (
    it_is_registered_under_its_name,
    a_query_is_unique_sorted_and_of_the_size_that_was_asked_for,
    pools_of_histograms_are_asked_about_as_all_others,
    the_same_seed_gives_the_same_answer_and_a_generator_will_do,
    asking_changes_neither_learner_nor_view,
    only_examples_that_were_named_and_have_no_label_are_asked_about,
    a_category_that_comes_later_is_normal,
    nothing_to_ask_is_said_and_no_error,
    near_duplicates_do_not_share_a_batch_until_nothing_else_is_left,
    gram_matrices_give_the_same_query,
    learners_that_are_no_gaussian_processes_are_asked_or_refused_in_a_sentence,
    it_asks_for_an_active_learner,
    what_it_cannot_use_is_refused,
)


def check_rule(rule: QueryRule) -> None:
    """Raise where a query rule is not what one must be.

    Parameters
    ----------
    rule : a query rule.
    """
    check_is("check_rule", "rule", rule, QueryRule)
    for check in RULE_CHECKS:
        check(rule)
