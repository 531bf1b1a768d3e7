"""Learning curves by a pool whose labels are known."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import ActiveLearner, simulate
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier

GP = GPClassifier("precomputed", noise_variance=0.01)


def test_a_simulation_records_every_answer_of_every_seed(digits, digit_pool):
    seen = []
    records = simulate(GP, digit_pool, digits[1], "uncertainty", 12, seeds=(3, 4), test=range(100), batch_size=5)
    for record in records:
        seen += [position for position in record["asked"] if position < 100]
    assert [record["labels"] for record in records] == [10, 15, 20, 22] * 2
    assert {record["seed"] for record in records} == {3, 4}
    assert seen == []
    assert all(record["rule"] == "uncertainty" and 0 <= record["accuracy"] <= 1 for record in records)
    again = simulate(GP, digit_pool, digits[1], "uncertainty", 12, seeds=(4,), test=range(100), batch_size=5)
    assert again == [record for record in records if record["seed"] == 4]


def test_a_simulation_with_wrong_answers_is_worse_than_one_without(digits, digit_pool):
    def end(share):
        records = simulate(GP, digit_pool, digits[1], "random", 80, seeds=(100, 101), wrong_share=share)
        return np.mean([record["accuracy"] for record in records if record["labels"] == 90])

    assert end(0.3) < end(0.0) - 0.05


def test_a_simulation_from_nothing_begins_with_the_first_answer(digits, digit_pool):
    records = simulate(GP, digit_pool, digits[1], "random", 3, start=0, seeds=(1,))
    assert [record["labels"] for record in records] == [1, 2, 3]


def test_a_truth_of_none_of_these_is_refused():
    with pytest.raises(InvalidInput, match="truth must name a category for every example, got NONE_OF_THESE"):
        simulate(GPClassifier(), np.eye(3), ["a", "b", NONE_OF_THESE])


@pytest.mark.parametrize("lag", [1, 3])
def test_with_a_lag_each_question_is_chosen_that_many_answers_behind(lag, digits):
    X, truth = digits[0][:200], digits[1][:200]
    learner = GPClassifier(RBF(scale=2.0), noise_variance=0.05)
    records = simulate(learner, X, truth, n_queries=25, relearn_every=None, lag=lag)
    asked = [record["asked"][0] for record in records[1:]]
    first = records[0]["asked"]
    active = ActiveLearner(learner, "uncertainty", explore=False, audit_share=0.0, relearn_every=None)
    known = [int(label) if place in first else None for place, label in enumerate(truth)]
    active.fit(X, known)
    for turn, position in enumerate(asked):
        behind = asked[max(0, turn - lag) : turn]  # put, and not answered when this one was chosen
        if turn > lag:
            answered = asked[turn - lag - 1]
            active.teach([answered], [int(truth[answered])])
        assert active.query(held=behind).indices.tolist() == [position]
    assert len(set(asked)) == 25
    everything = simulate(learner, X[:30], truth[:30], n_queries=100, start=[0, 1], lag=lag)
    assert everything[-1]["labels"] == 30


@pytest.mark.parametrize("learner", [None, HistogramGPClassifier()])
def test_learners_are_those_of_an_active_learner(learner, digits):
    found = simulate(learner, digits[0][:80], digits[1][:80], "random", n_queries=2)
    assert [record["labels"] for record in found] == [10, 11, 12]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"wrong_share": 5}, "simulate: wrong_share must be a number from 0 to 1, got 5"),
        ({"wrong_share": "a"}, "wrong_share must be a number from 0 to 1, got 'a'"),
        ({"seeds": 3}, "simulate: seeds must be a list of whole numbers, got 3"),
        ({"test": [999]}, "simulate: indices must be from 0 to below 20"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, said, digits):
    with pytest.raises(InvalidInput, match=said):
        simulate(GPClassifier(RBF(scale=2.0)), digits[0][:20], digits[1][:20], n_queries=1, **options)


def test_a_second_label_of_one_category_does_not_make_histograms_all_that_category(digits):
    """One label of each teaches nothing about the noise; the evidence takes the largest, under which frequency decides."""
    found = simulate(HistogramGPClassifier(), digits[0][:200], digits[1][:200], n_queries=2)
    assert all(record["accuracy"] > 0.5 for record in found)
