"""The ordered records of asking: what is on, what undo and redo switch, and which re-learning counts."""

import json

import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active.history import Act, Check, History
from fewsight.active.schedule import Schedule

START = {"act": "start", "indices": [4], "labels": ["b"], "excluded": [9]}


def label(*pairs):
    positions, labels = zip(*pairs, strict=True)
    return Act("label", positions, labels, (None,) * len(labels))


def history_of(*acts):
    history = History([START])
    for act in acts:
        history.add(act)
    return history


def test_records_survive_json_and_give_the_same_history():
    history = history_of(
        Act("question", (1, 2), checks=(Check(2, 8, 1),)),
        label((1, "a"), (2, "c")),
        Act("skip", (3,)),
        Act("discard", (5,)),
        Act("correct", (1,), ("b",)),
        Act("relearned", snapshot=5, learned={"weights": [0.5, 0.5], "noise_variance": 0.1}),
        Act("undo"),
        Act("redo"),
    )
    records = json.loads(json.dumps([act.record() for act in history.acts]))
    again = History(records)
    assert again.acts == history.acts
    assert again.on() == history.on()
    assert again.labelled() == history.labelled()


def test_classes_come_in_the_order_of_their_labels_and_those_of_the_start_are_sorted():
    history = History([{"act": "start", "indices": [0, 1, 2], "labels": ["z", "m", "a"], "excluded": []}])
    history.add(label((3, "k"), (4, "b")))
    assert history.labelled().classes == ["a", "m", "z", "k", "b"]
    history.add(Act("correct", (2,), ("new",)))
    assert history.labelled().classes == ["m", "z", "k", "b", "new"]
    assert history.labelled().labels == ["z", "m", "new", "k", "b"]
    assert history.labelled().first(1).classes == [
        "m",
        "z",
    ]  # as many as hold its own, so that columns keep their order


def test_undo_takes_the_questions_put_after_the_act_with_it():
    question = Act("question", (1,))
    history = history_of(question, label((1, "a")), Act("question", (2,)), Act("undo"))
    assert history.last == question
    assert history.labelled().positions == [4]
    assert history.can_redo
    history.add(Act("redo"))
    assert history.labelled().positions == [4, 1]
    assert not history.can_redo


def test_the_start_cannot_be_undone():
    history = history_of(Act("question", (1,)))
    assert not history.can_undo
    assert history_of(Act("skip", (1,))).can_undo


def test_a_re_learning_counts_while_all_acts_of_its_snapshot_are_on():
    history = history_of(label((1, "a")), Act("relearned", snapshot=1), label((2, "c")), label((3, "a")))
    history.add(Act("relearned", snapshot=3))  # of a thread that began before the last label came
    assert history.moments()[0].key == (4, 5)
    history.add(Act("undo"))  # the last label, which the snapshot does not hold
    assert history.moments()[0].key == (3, 5)
    history.add(Act("undo"))
    assert history.moments()[0].key == (1, 2)
    history.add(Act("undo"))
    assert history.moments()[0].relearned is None
    for _ in range(3):
        history.add(Act("redo"))
    assert history.moments()[0].key == (4, 5)


def test_moments_are_after_each_act_that_added_labels_and_before_the_next():
    history = history_of(
        label((1, "a")), Act("skip", (2,)), Act("correct", (1,), ("b",)), label((3, "a")), Act("relearned", snapshot=4)
    )
    assert [moment.key for moment in history.moments(10)] == [(0, -1), (3, -1), (4, 5)]
    assert [len(history.labelled(moment.end).labels) for moment in history.moments(10)] == [1, 2, 3]
    assert [moment.key for moment in history.moments(1)] == [(4, 5)]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [{"act": "label", "indices": [1], "labels": ["a"], "believed": [None]}],
            "the first must be the start, got 'label'",
        ),
        ([START, {"act": "guess"}], "one of start, question, label"),
        ([START, "label"], "each must be a dictionary"),
        ([START, {"act": "label", "indices": [1]}], "'label' must have 'labels', 'believed'"),
        ([{**START, "labels": ["b", "c"]}], "records: 'start' must have a label for each of 1 examples, got 2."),
        ([{**START, "indices": 4}], "records: indices of 'start' must be a list, got 4."),
        ([START, {"act": "undo"}], "there must be something to undo before 'undo', got nothing"),
        ([START, {"act": "redo"}], "there must be something to redo before 'redo', got nothing"),
    ],
)
def test_records_that_cannot_be_are_refused_in_one_sentence(records, said):
    with pytest.raises(InvalidInput, match=said):
        History(records)


def test_a_forgotten_label_no_longer_counts_and_takes_its_class_with_it():
    history = history_of(
        label((1, "a"), (2, "c")), Act("relearned", snapshot=1), label((3, "a")), Act("forget", (4, 1))
    )
    assert history.labelled() == ([2, 3], ["c", "a"], ["a", "c"])
    assert history.moments()[0].n_learned == 1  # of the three labels that the re-learning knew
    history.add(label((1, "b")))
    assert history.labelled() == ([2, 3, 1], ["c", "a", "b"], ["a", "c", "b"])
    assert history.moments()[0].n_learned == 1
    history.add(Act("undo"))
    history.add(Act("undo"))
    assert history.labelled() == ([4, 1, 2, 3], ["b", "a", "c", "a"], ["b", "a", "c"])
    assert history.moments()[0].n_learned == 3


def test_a_check_whose_question_went_with_an_undo_is_open_until_the_next_question():
    check = Check(2, 8, 1)
    acts = [label((1, "a")), Act("question", (2,), checks=(check,)), Act("undo"), label((2, "c"))]
    assert Schedule.after(history_of(*acts).on(), 5).checks == [check]
    acts.insert(3, Act("question", (1,)))
    assert Schedule.after(history_of(*acts).on(), 5).checks == []
    assert history_of(*acts).check_of(2) == check
    assert history_of(*acts).check_of(1) is None


def test_none_of_these_survives_json_and_is_no_class():
    history = history_of(Act("label", (1, 2), (NONE_OF_THESE, "c"), (NONE_OF_THESE, None)))
    records = json.loads(json.dumps([act.record() for act in history.acts]))
    assert records[1]["labels"] == [{"none": True}, "c"]
    again = History(records)
    assert again.acts == history.acts
    assert again.labelled() == ([4, 1, 2], ["b", NONE_OF_THESE, "c"], ["b", "c"])
    again.add(Act("correct", (4,), (NONE_OF_THESE,)))
    assert again.labelled().classes == ["c"]
    assert again.labelled().first(2).classes == []
    start = {"act": "start", "indices": [0, 1], "labels": [{"none": True}, "z"], "excluded": []}
    assert History([start]).labelled().classes == ["z"]


def test_labels_that_were_given_at_once_stay_together():
    history = history_of(label((1, "a"), (2, "c")), Act("skip", (7,)), label((3, "a")), Act("correct", (2,), ("a",)))
    assert history.after(0) == [([4], ["b"]), ([1, 2], ["a", "a"]), ([3], ["a"])]
    assert history.after(2) == [([2], ["a"]), ([3], ["a"])]
    assert history.after(1, end=2) == [([1, 2], ["a", "c"])]
