"""How a question is put together."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import ActiveLearner, Influence
from fewsight.active.question import exploring, seems_to_hide
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, SVMClassifier

RNG = np.random.default_rng(4)

X = RNG.normal(size=(80, 3))

NAMES = np.array(["ant", "bee", "cat"])[RNG.integers(0, 3, 80)]

GP = GPClassifier(RBF(scale=1.5), noise_variance=0.1)

UNLIKE = "uncertain, and unlike anything labelled"


def started(n=6, **options):
    """With n labels, and no random checks."""
    known = [label if place < n else None for place, label in enumerate(NAMES.tolist())]
    return ActiveLearner(GP, audit_share=0.0, relearn_every=None, **options).fit(X, known)


def exploring_turns(active, names, n=15):
    """Which of the next questions explore."""
    turns = []
    for _ in range(n):
        query = active.query()
        turns.append(query.reasons[0] == UNLIKE)
        assert query.indices[0] == active.query().indices[0]
        active.teach(query.indices, names[query.indices])
    return turns


def test_every_second_question_explores_while_labels_are_few_and_every_tenth_once_each_category_has_two():
    twice = np.concatenate([np.flatnonzero(name == NAMES)[:2] for name in ("ant", "bee", "cat")])
    known = [label if place in twice else None for place, label in enumerate(NAMES.tolist())]
    active = ActiveLearner(GP, audit_share=0.0, relearn_every=None).fit(X, known)
    labels = np.arange(6, 21)
    assert exploring_turns(active, NAMES) == np.where(labels < 9, labels % 2 == 1, labels % 10 == 9).tolist()


def test_every_third_question_explores_as_long_as_some_category_has_one_label_only():
    names = NAMES.copy()
    names[0] = "the only wasp"
    known = [label if place < 6 else None for place, label in enumerate(names.tolist())]
    active = ActiveLearner(GP, audit_share=0.0, relearn_every=None).fit(X, known)
    labels = np.arange(6, 21)
    assert exploring_turns(active, names) == np.where(labels < 12, labels % 2 == 1, labels % 3 == 2).tolist()
    assert seems_to_hide(["ant", "ant", "bee"])
    assert not seems_to_hide(["ant", "ant", NONE_OF_THESE])


def test_without_exploring_the_rule_alone_asks():
    active = started(7, explore=False)
    assert active.query().indices[0] == Influence().query(active.view_).indices[0]
    assert started(7).query().reasons == (UNLIKE,)
    assert started(7, rule="variance").query().indices[0] == np.argmax(active.view_.variance)
    with pytest.raises(InvalidInput, match="ActiveLearner: explore must be True or False, got 'often'"):
        ActiveLearner(GP, explore="often").fit(X)


@pytest.mark.parametrize("learner", [GP, SVMClassifier(RBF(scale=1.5))])
def test_a_batch_is_part_rule_and_part_exploration_without_twins(learner):
    doubled = np.concatenate([X, X])
    known = [label if place < 6 else None for place, label in enumerate(np.concatenate([NAMES, NAMES]).tolist())]
    active = ActiveLearner(learner, audit_share=0.0, relearn_every=None).fit(doubled, known)
    query = active.query(batch_size=12)
    assert query.reasons.count(UNLIKE) == exploring(6, len(active.view_.classes), 12) == 4
    assert len(np.unique(query.indices)) == len(np.unique(query.indices % 80)) == 12
    assert np.all(np.diff(query.scores) <= 0)


def test_a_batch_of_all_that_is_left_has_everything_once():
    query = started(70).query(batch_size=100)
    assert sorted(query.indices.tolist()) == list(range(70, 80))
