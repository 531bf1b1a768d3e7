"""Labels as they come, and as a model file keeps them."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.learners.labels import classes_from, classes_header, labelled, targets_of


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
