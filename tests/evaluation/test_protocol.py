"""Draws are paired, nested and apart; a protocol that cannot be is refused in a sentence."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.evaluation import Protocol

LABELS = np.array([label for label in "abc" for _ in range(12)], dtype=object)


def test_every_repeat_meets_every_number_of_examples():
    draws = list(Protocol(per_class=(3, 1), test_per_class=2, repeats=2, seed=7).splits(LABELS))
    assert [(draw.repeat, draw.per_class, draw.seed) for draw in draws] == [(0, 1, 7), (0, 3, 7), (1, 1, 8), (1, 3, 8)]
    assert [len(draw.train) for draw in draws] == [3, 9, 3, 9]


def test_within_a_repeat_training_images_are_nested_and_test_images_the_same():
    few, many = Protocol(per_class=(2, 5), repeats=1).splits(LABELS)
    assert set(few.train) < set(many.train)
    np.testing.assert_array_equal(few.test, many.test)
    assert not set(many.train) & set(many.test)


def test_the_subset_of_each_class_bounds_both_sides():
    (draw,) = Protocol(images_per_class=6, per_class=(4,), repeats=1).splits(LABELS)
    assert len(draw.train) == 12
    assert len(draw.test) == 6


def test_the_next_seed_is_the_next_repeat():
    first = list(Protocol(per_class=(2,), repeats=2, seed=0).splits(LABELS))
    second = list(Protocol(per_class=(2,), repeats=1, seed=1).splits(LABELS))
    np.testing.assert_array_equal(first[1].train, second[0].train)


def test_sizes_come_back_sorted_and_once():
    assert Protocol(per_class=[5, 1, 5]).per_class == (1, 5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"per_class": ()}, "Protocol: per_class must be one or more whole numbers, got \\(\\)."),
        ({"per_class": 5}, "Protocol: per_class must be one or more whole numbers, got 5."),
        ({"per_class": (0,)}, "Protocol: per_class must be a whole number >= 1, got 0."),
        ({"repeats": 0}, "Protocol: repeats must be a whole number >= 1, got 0."),
        ({"seed": -1}, "Protocol: seed must be a whole number >= 0, got -1."),
        ({"test_per_class": 0}, "Protocol: test_per_class must be a whole number >= 1, got 0."),
        (
            {"images_per_class": 20, "per_class": (15,), "test_per_class": 15},
            "Protocol: images_per_class must be at least 30 \\(15 to train with and 15 to test with\\), got 20.",
        ),
        ({"images_per_class": 5, "per_class": (5,)}, "images_per_class must be at least 6"),
    ],
)
def test_a_protocol_that_cannot_be_is_refused(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Protocol(**options)
