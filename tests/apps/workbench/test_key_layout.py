"""Keys of categories: chosen ones stay, the others get what is free."""

from __future__ import annotations

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.key_layout import ACTION_KEYS, KeyLayout

NAMES = {"a": "owl", "b": "tit", "c": "jay"}

MANY = {f"id{n}": f"name {n}" for n in range(40)}


def test_keys_in_the_order_of_categories() -> None:
    assert KeyLayout(NAMES, {}, []).keys() == {"a": "1", "b": "2", "c": "3"}
    assert KeyLayout(NAMES, {"c": "1"}, ["c"]).keys() == {"c": "1", "a": "2", "b": "3"}


def test_a_key_moves_from_one_category_to_another() -> None:
    layout = KeyLayout(NAMES, {}, []).with_key("a", "q").with_key("b", "q")
    assert layout.chosen == {"b": "q"}
    assert layout.with_key("b", None).chosen == {}


def test_what_is_kept_from_earlier_may_name_what_is_no_more() -> None:
    layout = KeyLayout(NAMES, {"gone": "1", "a": "?"}, ["gone", "b"])
    assert (layout.chosen, layout.order()) == ({}, ["b", "a", "c"])
    assert KeyLayout(NAMES, "nonsense", 3).keys() == {"a": "1", "b": "2", "c": "3"}


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda layout: layout.with_key("a", "s"), "a key must be a digit from 1 to 9 or a free letter"),
        (lambda layout: layout.with_key("x", "1"), "a category must be one of those that exist, got 'x'"),
        (lambda layout: layout.checked_keys([]), "keys must be a key for each category's id"),
        (lambda layout: layout.checked_order(["a", "a"]), "order must list ids of categories, each once"),
    ],
)
def test_refusals(act, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        act(KeyLayout(NAMES, {}, []))


def test_categories_get_digits_then_letters_that_no_action_has_then_nothing() -> None:
    keys = list(KeyLayout(MANY, {}, []).keys().values())
    assert keys[:9] == list("123456789")
    assert set(keys).isdisjoint(ACTION_KEYS.values())
    assert len(keys) == len(set(keys)) == 9 + 26 - sum(key.isalpha() for key in ACTION_KEYS.values())


def test_a_key_of_an_action_that_moved_is_free_for_categories() -> None:
    layout = KeyLayout(MANY, {}, [], {"guess": "!"})
    assert "g" in layout.free
    assert layout.with_key("id3", "g").keys()["id3"] == "g"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "actions must be keys for"),
        ({"fly": "f"}, "actions must be keys for"),
        ({"guess": "gg"}, "the key of guess must be one free character"),
        ({"guess": "G"}, "the key of guess must be one free character"),
        ({"guess": "?"}, "the key of guess must be one free character"),
        ({"guess": None}, "the key of guess must be one free character"),
        ({"guess": "s"}, "every action must have a key of its own, but two have 's'"),
        ({"guess": "q"}, "the key of guess must be free, but a category was given 'q'"),
    ],
)
def test_a_key_that_cannot_be_is_refused(value: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        KeyLayout(MANY, {"id1": "q"}, []).checked_actions(value)


def test_two_actions_may_change_places() -> None:
    wanted = {"guess": "s", "skip": "g"}
    assert KeyLayout(MANY, {}, []).checked_actions(wanted) == wanted
