"""Labels stay what they are: none are merged in silence, and what was learned can be kept and printed."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier
from fewsight.learners.labels import (
    checked_classes,
    class_numbers,
    classes_from,
    classes_header,
    classes_in,
    classes_with,
    labelled,
    labels_of,
    targets_of,
)
from fewsight.persistence import load, save

X = np.abs(np.random.default_rng(0).normal(size=(4, 3)))

REFUSED = [
    ([1, "1", 2, 2], r"labels must be of one kind \(strings, booleans or numbers\), got 1 and '1'\."),
    (np.array([1, "1", 2, 2], dtype=object), "must be of one kind"),
    ([True, 1, 2, 2], "got True and 1"),
    ([True, "True", "a", "a"], "got True and 'True'"),
    (["x\0", "x", "y", "y"], r"a label must not hold a null character, got 'x\\x00'\."),
    (["x", "a\0b", "y", "y"], "null character"),
    (["\ud800", "a", "a", "b"], r"a label must be text that can be printed, got '\\ud800'\."),
    (np.array(["caf\udce9", "a", "a", "b"]), "can be printed"),
    (
        [date(2020, 1, day) for day in (1, 2, 3, 4)],
        r"must be strings, integers or booleans, got datetime.date\(2020, 1, 1\)",
    ),
    (np.array(["2020-01-01", "2020-01-02"] * 2, dtype="M8[D]"), r"got datetime64\[D\] such as"),
    (np.array([b"a", b"b"] * 2), r"got \|S1 such as"),
    ([b"a", b"b", "c", "c"], "got b'a'"),
    ([1 + 1j, 2, 2, 1], r"got \(1\+1j\)"),
    ([2**70, 1, 1, 2], "got object such as"),
    ([float("nan"), 1, 1, 2], "NaN"),
    (
        ["a", float("nan"), "b", "b"],
        "labels must not be NaN or NA, got nan; an example without a label has the label None",
    ),
    (["a", np.float32("nan"), "b", "b"], "labels must not be NaN or NA, got nan"),
    (np.array(["2020-01-01"] * 4, dtype="datetime64[ns]"), r"datetime64\[ns\] such as np.datetime64\('2020-01-01T"),
    ([("a",), "b", "b", "c"], "shape|homogeneous"),
]


def test_a_column_of_a_table_is_taken_as_labels() -> None:
    column = np.array([["a"], ["b"], ["a"], ["b"]], dtype=object)
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert GPClassifier(RBF(scale=1.0)).fit(X, column).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(("y", "said"), REFUSED)
@pytest.mark.parametrize("learner", [GPClassifier(RBF(scale=1.0)), HistogramGPClassifier()], ids=["gp", "histogram_gp"])
def test_labels_that_would_merge_or_could_not_be_stored_are_refused_by_fit(learner: Any, y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refusal:
        learner.fit(X, y)
    assert "\n" not in str(refusal.value) or not isinstance(refusal.value, InvalidInput)


@pytest.mark.parametrize(
    "y",
    [
        ["1", "01", "1", "01"],
        ["été", "e\u0301te\u0301", "été", "e\u0301te\u0301"],
        ["owl ", "owl", "owl ", "owl"],
        ["", "a", "", "a"],
        [1, 2, 1, 2],
        [np.int8(1), 2, 1, 2],
        [1.0, 2, 1.0, 2],
        [True, False, np.True_, False],
        ("a", "b", "a", "b"),
        np.array(["a", "b", "a", "b"], dtype=object),
    ],
)
def test_labels_that_differ_stay_apart_and_come_back_from_a_model_file(y: Any, tmp_path: Any) -> None:
    learner = GPClassifier(RBF(scale=1.0)).fit(X, y)
    save(learner, tmp_path / "model")
    assert learner.classes_.tolist() == sorted(set(np.array(y).tolist()))
    assert load(tmp_path / "model").classes_.tolist() == learner.classes_.tolist()


@pytest.mark.parametrize(
    ("classes", "label_type"),
    [
        (["a", "\ud800"], "string"),
        (["a", "a\0"], "string"),
        (["a", 1], "string"),
        ([1, True], "integer"),
        ([1, 2**70], "integer"),
        ([1, 1.0], "number"),
        ([], "string"),
        ({"a": 1}, "string"),
        (["a"], "date"),
        (["a"], ["string"]),
    ],
)
def test_classes_in_a_file_are_held_to_the_same(classes: Any, label_type: Any) -> None:
    with pytest.raises(InvalidInput, match="the stored classes"):
        classes_from({"classes": classes, "label_type": label_type})


def test_examples_without_a_label_are_left_out():
    labels, positions = labelled("who", ["a", None, "b"], 3)
    assert labels.tolist() == ["a", "b"]
    assert positions.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "who: requires y to be passed, but the target y is None."),
        (["a"], "who: X and y must have the same length, got 2 and 1."),
        ([None, None], "who: at least one example must have a label, got none."),
        (np.array([["a", None]], dtype=object), "who: labels must be a list, got shape (1, 2)."),
    ],
)
def test_labels_that_cannot_be_used_are_said(y, sentence):
    with pytest.raises(InvalidInput) as refusal:
        labelled("who", y, 2)
    assert str(refusal.value) == sentence


def test_targets_are_plus_one_in_the_column_of_the_class():
    np.testing.assert_array_equal(targets_of(np.array(["b", "a"]), np.array(["a", "b"])), [[-1, 1], [1, -1]])


@pytest.mark.parametrize("classes", [["été", "a"], [1, 7], [False, True], [0.5, 2.0]])
def test_classes_come_back_with_their_type(classes):
    again = classes_from(classes_header(np.array(classes)))
    assert again.tolist() == classes
    assert again.dtype.kind == np.array(classes).dtype.kind


def test_classes_that_a_file_cannot_hold_are_said():
    with pytest.raises(InvalidInput, match=r"strings, numbers or booleans, got datetime64\[D\]"):
        classes_header(np.array(["2020-01-01"], dtype="datetime64[D]"))


@pytest.mark.parametrize(
    "header",
    [
        {"classes": ["a", "a"], "label_type": "string"},
        {"classes": [], "label_type": "string"},
        {"classes": "ab", "label_type": "string"},
        {"classes": [1], "label_type": "string"},
        {"classes": ["a"], "label_type": "word"},
    ],
)
def test_classes_that_were_edited_are_refused(header):
    with pytest.raises(InvalidInput):
        classes_from(header)


@pytest.mark.parametrize(
    ("known", "labels", "said"),
    [
        (["ant", "bee"], [1], r"Owner: labels must be strings, as those learned before, such as 'ant', got 1\."),
        ([1, 2], ["1"], "labels must be numbers, as those learned before, such as 1, got '1'"),
        ([1, 2], [True], "labels must be numbers, .* got True"),
        ([True, False], [1], "labels must be booleans, .* got 1"),
    ],
)
def test_further_labels_must_be_of_the_kind_that_was_learned(known, labels, said):
    with pytest.raises(InvalidInput, match=said):
        classes_with("Owner", np.array(known), np.array(labels))


def test_further_classes_come_after_the_old_ones_whole():
    known = np.array(["bee", "cat"])
    assert classes_with("Owner", known, np.array(["elephant", "cat", "ant"])).tolist() == [
        "bee",
        "cat",
        "ant",
        "elephant",
    ]
    assert classes_with("Owner", known, np.array([NONE_OF_THESE], dtype=object)).tolist() == ["bee", "cat"]


@pytest.mark.parametrize("classes", ["elephant", ["ant", None], [], [["ant"]], [NONE_OF_THESE], 3])
def test_classes_that_are_no_list_of_labels_are_refused(classes):
    with pytest.raises(InvalidInput, match="Owner: classes must be a list of labels, got"):
        checked_classes("Owner", classes)


def test_none_of_these_is_kept_beside_labels_of_one_kind_and_is_no_class():
    for given in (["a", NONE_OF_THESE, None, "b"], np.array([True, NONE_OF_THESE, None, False], dtype=object)):
        labels, positions = labelled(GPClassifier(), given, 4)
        assert positions.tolist() == [0, 1, 3]
        assert labels[1] is NONE_OF_THESE
        assert classes_in(labels).dtype == np.array([given[0]]).dtype
        targets = targets_of(labels, classes_in(labels))
        first = int(np.argmax(classes_in(labels) == given[0]))
        assert class_numbers(targets).tolist() == [first, -1, 1 - first]
        assert labels_of(class_numbers(targets), classes_in(labels)).tolist() == labels.tolist()
    with pytest.raises(InvalidInput, match="labels must be of one kind"):
        labelled(GPClassifier(), ["a", NONE_OF_THESE, 1], 3)
    assert class_numbers(np.zeros((2, 0))).tolist() == [-1, -1]
