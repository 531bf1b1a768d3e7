"""Answers as a person gives them, checked before anything is changed."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active.label_checks import checked_labels, checked_positions, given_labels


@pytest.mark.parametrize("given", [3, [3], np.array([3]), (3,)])
def test_one_position_is_a_list_of_one(given):
    assert checked_positions("who", given, 5).tolist() == [3]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ant", ["ant"]),
        (np.array(["ant"]), ["ant"]),
        ([np.int64(3)], [3]),
        (np.array([True]), [True]),
    ],
)
def test_labels_become_plain_python_values(given, expected):
    found = checked_labels("who", given, 1, [])
    assert found == expected
    assert type(found[0]) is type(expected[0])


def test_labels_are_all_of_the_kind_of_those_that_are_known():
    with pytest.raises(InvalidInput, match="who: labels must all be of type integer, as the first, got 'a'"):
        checked_labels("who", ["a"], 1, [1])
    with pytest.raises(InvalidInput, match="type boolean"):
        checked_labels("who", [True, 1], 2, [])


def test_none_stands_for_no_label():
    assert given_labels("who", [None, "a", None], 3) == ([1], ["a"])
    assert given_labels("who", None, 3) == ([], [])
    with pytest.raises(InvalidInput, match="one for each of 3 examples"):
        given_labels("who", ["a"], 3)
