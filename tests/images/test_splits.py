"""Seeded draws: disjoint, nested, shared by every size of training set, and independent of the other classes."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewsight._base.errors import InvalidInput
from fewsight.images import Split, draw_split

LABELS = np.array(["ant", "bee", "cow"] * 30, dtype=object)


def by_class(labels: Any, indices: np.ndarray) -> dict[Any, int]:
    return dict(Counter(labels[i] for i in indices))


def test_each_class_gives_the_asked_number_and_nothing_is_in_both() -> None:
    split = draw_split(LABELS, images_per_class=20, per_class=5, test_per_class=7, seed=0)
    assert isinstance(split, Split)
    assert by_class(LABELS, split.train) == {"ant": 5, "bee": 5, "cow": 5}
    assert by_class(LABELS, split.test) == {"ant": 7, "bee": 7, "cow": 7}
    assert not set(split.train) & set(split.test)
    assert split.train.dtype == split.test.dtype == np.intp


def test_without_limits_all_images_are_used() -> None:
    split = draw_split(LABELS, images_per_class=None, per_class=5, test_per_class=None, seed=0)
    assert sorted([*split.train, *split.test]) == list(range(90))


def test_the_same_seed_gives_the_same_draw_and_another_seed_another() -> None:
    first, again, other = (draw_split(LABELS, per_class=5, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.train, again.train)
    np.testing.assert_array_equal(first.test, again.test)
    assert set(first.train) != set(other.train)


def test_smaller_training_sets_begin_larger_ones_and_all_share_their_test_images() -> None:
    curve = [draw_split(LABELS, images_per_class=25, per_class=n, seed=1, reserve=15) for n in (1, 3, 10, 15)]
    for smaller, larger in itertools.pairwise(curve):
        np.testing.assert_array_equal(smaller.train, larger.train[: len(smaller.train)])
        np.testing.assert_array_equal(smaller.test, larger.test)
    assert by_class(LABELS, curve[0].test) == {"ant": 10, "bee": 10, "cow": 10}


def test_adding_or_leaving_out_a_class_changes_nothing_for_the_others() -> None:
    images = np.array([f"{label}{i}" for i, label in enumerate(LABELS)])
    kept = LABELS != "bee"
    whole = draw_split(LABELS, per_class=5, test_per_class=5, seed=2)
    part = draw_split(LABELS[kept], per_class=5, test_per_class=5, seed=2)
    for of_whole, of_part in ((whole.train, part.train), (whole.test, part.test)):
        expected = [image for image in images[of_whole] if not image.startswith("bee")]
        assert images[kept][of_part].tolist() == expected


def test_classes_with_equal_numbers_are_not_drawn_alike() -> None:
    split = draw_split(np.repeat(["ant", "bee"], 30), per_class=10, seed=0)
    places = split.train.reshape(10, 2) % 30
    assert places[:, 0].tolist() != places[:, 1].tolist()


def test_a_class_below_images_per_class_takes_part_with_all_it_has() -> None:
    labels = ["ant"] * 40 + ["bee"] * 18
    split = draw_split(labels, images_per_class=30, per_class=15, seed=0)
    assert by_class(labels, split.test) == {"ant": 15, "bee": 3}


def test_unlabelled_images_are_never_drawn_and_labels_may_be_numbers() -> None:
    labels = [None, 1, 2, 1, 2, None, 1, 2]
    split = draw_split(labels, per_class=1, seed=0)
    assert sorted([*split.train, *split.test]) == [1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (
            ["a"] * 9 + ["b"] * 5,
            {"per_class": 5},
            r"at least 6 images, 5 to train on and one to test on, got b \(5\)\.",
        ),
        (["a"] * 9, {"per_class": 2, "reserve": 9}, r"at least 10 images.* got a \(9\)"),
        (list("abcdefgh"), {"per_class": 1}, "and 3 more"),
        ([None, None], {"per_class": 1}, "labels must name at least one class"),
        ([], {"per_class": 1}, "labels must name at least one class"),
        (["a"] * 9, {"per_class": 0}, "per_class must be a whole number >= 1, got 0"),
        (["a"] * 9, {"per_class": 3, "reserve": 2}, "reserve must be a whole number >= 3, got 2"),
        (["a"] * 9, {"per_class": 3, "images_per_class": 3}, "images_per_class must be a whole number >= 4, got 3"),
        (["a"] * 9, {"per_class": 3, "test_per_class": 0}, "test_per_class must be a whole number >= 1, got 0"),
        (["a"] * 9, {"per_class": 3, "seed": -1}, "seed must be a whole number >= 0, got -1"),
    ],
)
def test_draws_that_cannot_be_made_are_refused_with_numbers(labels: Any, options: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        draw_split(labels, **{"seed": 0, **options})


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "é", None]), max_size=40),
    st.integers(1, 4),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(1, 5)),
    st.integers(0, 2**32),
)
def test_any_draw_is_disjoint_complete_per_class_or_refused(
    labels: list[str | None], per_class: int, more: int, test_per_class: int | None, seed: int
) -> None:
    reserve = per_class + more
    counts = Counter(label for label in labels if label is not None)
    try:
        split = draw_split(labels, per_class=per_class, test_per_class=test_per_class, seed=seed, reserve=reserve)
    except InvalidInput:
        assert not counts or min(counts.values()) <= reserve
        return
    assert not set(split.train) & set(split.test)
    assert by_class(labels, split.train) == dict.fromkeys(counts, per_class)
    most = len(labels) if test_per_class is None else test_per_class
    assert by_class(labels, split.test) == {label: min(most, count - reserve) for label, count in counts.items()}
