"""What borrowing brings: every category is the new one in turn, and nothing else changes."""

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.evaluation import Protocol, evaluate_borrowing
from fewsight.evaluation.loan_gain import METHODS, METRICS

CLASSES = ["ant", "bee", "cat", "dog"]
PROTOCOL = Protocol(per_class=(1, 2), test_per_class=2, repeats=2, seed=3)


@pytest.fixture
def found(make_set, mean_colour):
    return evaluate_borrowing(make_set(CLASSES), PROTOCOL, {"colour": mean_colour()})


def test_every_category_is_new_once_in_every_draw(found):
    assert set(found.trials) == {1, 2}
    for draws in found.trials.values():
        assert [[trial.category for trial in trials] for trials in draws] == [CLASSES] * 2
    assert set(found.lenders(1)) == set(CLASSES)


def test_there_is_a_record_for_each_number_method_and_metric(found):
    records = found.records()
    assert len(records) == 2 * len(METHODS) * len(METRICS)
    assert all(len(record["values"]) == 2 and 0 <= record["mean"] <= 1 for record in records)
    assert {(record["channels"], record["combine"], record["learner"]) for record in records} == {
        ("colour", "none", "gp")
    }


def test_without_a_lender_both_ways_are_the_same(make_set, mean_colour):
    alone = {name: [] for name in CLASSES}
    found = evaluate_borrowing(make_set(CLASSES), PROTOCOL, {"colour": mean_colour()}, alone)
    for trials in found.trials[1]:
        assert all(trial.lender is None and trial.independent == trial.borrowed for trial in trials)


def test_too_few_images_to_lend_are_said(make_set, mean_colour):
    with pytest.raises(InvalidInput, match="of at least 10 images each, where the new one is learned from 4"):
        evaluate_borrowing(
            make_set(CLASSES), Protocol(per_class=(4,), test_per_class=2, repeats=1), {"colour": mean_colour()}
        )
