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


def classes_of(indices):
    return set(LABELS[indices])


def test_a_held_out_class_gives_no_training_image_and_the_same_test_images_as_ever():
    whole = list(Protocol(per_class=(1, 3), test_per_class=2, repeats=4).splits(LABELS))
    parted = list(Protocol(per_class=(1, 3), test_per_class=2, repeats=4, hold_out=1).splits(LABELS))
    for every, draw in zip(whole, parted, strict=True):
        strange = classes_of(draw.held_out)
        assert len(strange) == 1
        assert not strange & (classes_of(draw.train) | classes_of(draw.test))
        assert set(draw.train) == {i for i in every.train if LABELS[i] not in strange}
        np.testing.assert_array_equal(np.sort(draw.asked), np.sort(every.test))
        assert len(every.held_out) == 0


def test_classes_are_held_out_by_the_seed_of_the_repeat():
    labels = [f"{i % 20}" for i in range(80)]
    chosen = [
        {labels[i] for i in draw.held_out}
        for draw in Protocol(per_class=(1, 2), repeats=3, seed=4, hold_out=5).splits(labels)
    ]
    assert chosen[0] == chosen[1]
    assert chosen[2] == chosen[3]
    assert chosen[0] != chosen[2]
    (later,) = Protocol(per_class=(2,), repeats=1, seed=5, hold_out=5).splits(labels)
    assert {labels[i] for i in later.held_out} == chosen[2]


def test_two_classes_must_remain_to_be_learned():
    sentence = r"Protocol: hold_out must leave two or more categories to learn, got 2 of 3\."
    with pytest.raises(InvalidInput, match=sentence):
        next(Protocol(per_class=(2,), hold_out=2).splits(LABELS))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"per_class": ()}, "Protocol: per_class must be one or more whole numbers, got \\(\\)."),
        ({"per_class": 5}, "Protocol: per_class must be one or more whole numbers, got 5."),
        ({"per_class": (0,)}, "Protocol: per_class must be a whole number >= 1, got 0."),
        ({"repeats": 0}, "Protocol: repeats must be a whole number >= 1, got 0."),
        ({"seed": -1}, "Protocol: seed must be a whole number >= 0, got -1."),
        ({"hold_out": -1}, "Protocol: hold_out must be a whole number >= 0, got -1."),
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


LABELLED = np.array([*"aaaaaaaa", *"bbbbbbbb", *"cccccccc", *(None for _ in range(6))], dtype=object)


def test_unlabelled_images_are_neither_trained_on_nor_tested_and_the_same_along_a_curve():
    protocol = Protocol(per_class=(1, 3), test_per_class=2, repeats=3, unlabelled=9)
    draws = list(protocol.splits(LABELLED))
    for small, large in zip(draws[::2], draws[1::2], strict=True):
        np.testing.assert_array_equal(small.unlabelled, large.unlabelled)
        assert len(set(small.unlabelled.tolist())) == 9
        assert not set(large.unlabelled.tolist()) & {*large.train.tolist(), *large.asked.tolist()}
    assert any(LABELLED[place] is None for draw in draws for place in draw.unlabelled)
    assert any(LABELLED[place] is not None for draw in draws for place in draw.unlabelled)
    assert draws[0].unlabelled.tolist() != draws[2].unlabelled.tolist()


def test_unlabelled_images_change_nothing_else_in_a_draw():
    plain, more = (Protocol(per_class=(2,), test_per_class=2, repeats=2, unlabelled=n) for n in (0, 5))
    for one, other in zip(plain.splits(LABELLED), more.splits(LABELLED), strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert len(one.unlabelled) == 0


def test_unlabelled_images_are_never_of_a_held_out_class():
    protocol = Protocol(per_class=(2,), test_per_class=2, repeats=4, hold_out=1, unlabelled=10)
    for draw in protocol.splits(LABELLED):
        (strange,) = set(LABELLED[draw.held_out])
        assert strange not in LABELLED[draw.unlabelled].tolist()


def test_too_many_unlabelled_images_are_refused():
    with pytest.raises(InvalidInput, match="unlabelled must be at most 18, the images that are neither trained on nor"):
        list(Protocol(per_class=(2,), test_per_class=2, repeats=1, unlabelled=19).splits(LABELLED))
    with pytest.raises(InvalidInput, match="unlabelled must be a whole number >= 0, got -1"):
        Protocol(unlabelled=-1)


def test_numbers_of_unlabelled_images_follow_where_images_are_renumbered():
    (draw,) = Protocol(per_class=(2,), test_per_class=2, repeats=1, unlabelled=3).splits(LABELLED)
    moved = draw.among(np.arange(100, 100 + len(LABELLED)))
    np.testing.assert_array_equal(moved.unlabelled, draw.unlabelled + 100)
