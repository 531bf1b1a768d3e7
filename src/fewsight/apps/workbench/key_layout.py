"""Which key of the page stands for which category, and in which order categories are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.project.events import Json

ACTION_KEYS = {
    "none": "u",
    "skip": "s",
    "discard": "x",
    "undo": "z",
    "redo": "r",
    "new": "n",
    "guess": "g",
    "apart": "a",
    "lookalikes": "l",
    "find": "/",
    "yes": "y",
}
_CATEGORY_KEYS = "123456789abcdefghijklmnopqrstuvwxyz"
_FIXED = "?+-=0 "  # the list of keys, the size of the picture, and the space that presses a button


@final
@dataclass(frozen=True)
class KeyLayout:
    """`chosen` are keys that a person chose, by category; the others get the first that are free of actions."""

    categories: Mapping[str, str]
    wanted: Json
    wanted_order: Json
    wanted_actions: Json = None

    @property
    def own_actions(self) -> dict[str, Json]:
        """The keys that a person gave to actions."""
        wanted = self.wanted_actions if isinstance(self.wanted_actions, dict) else {}
        return {action: key for action, key in wanted.items() if action in ACTION_KEYS}

    @property
    def free(self) -> list[str]:
        """The keys that categories may have, in the order in which they get them."""
        taken = {**ACTION_KEYS, **self.own_actions}.values()
        return [key for key in _CATEGORY_KEYS if key not in taken]

    @property
    def chosen(self) -> dict[str, Json]:
        """Without categories that are no more."""
        wanted, free = self.wanted if isinstance(self.wanted, dict) else {}, self.free
        return {category: key for category, key in wanted.items() if category in self.categories and key in free}

    def order(self) -> list[str]:
        """The categories that a person put in order, then the others, the oldest first."""
        wanted = self.wanted_order if isinstance(self.wanted_order, list) else []
        first = [str(category) for category in wanted if category in self.categories]
        return [*first, *(category for category in self.categories if category not in first)]

    def keys(self) -> dict[str, str]:
        """The key of each category that has one."""
        chosen = {category: str(key) for category, key in self.chosen.items()}
        free = iter([key for key in self.free if key not in chosen.values()])
        given = ((category, chosen.get(category) or next(free, None)) for category in self.order())
        return {category: key for category, key in given if key is not None}

    def with_key(self, category: str, key: str | None) -> KeyLayout:
        """A category gets a key, and another that a person gave it to before loses it."""
        if category not in self.categories:
            raise InvalidInput(f"keys: a category must be one of those that exist, got {shown(category)}.")
        if key is not None and key not in self.free:
            letters = "".join(each for each in self.free if each.isalpha())
            raise InvalidInput(
                f"keys: a key must be a digit from 1 to 9 or a free letter ({letters}), got {shown(key)}."
            )
        others = {other: known for other, known in self.chosen.items() if other != category and known != key}
        return replace(self, wanted=others | ({} if key is None else {category: key}))

    def checked_keys(self, value: Json) -> dict[str, Json]:
        """Keys that a person chose, all at once."""
        if not isinstance(value, dict):
            raise InvalidInput(f"settings: keys must be a key for each category's id, got {shown(value)}.")
        layout = replace(self, wanted={})
        for category, key in value.items():
            layout = layout.with_key(category, None if key is None else str(key))
        return layout.chosen

    def checked_order(self, value: Json) -> list[Json]:
        """An order that a person chose."""
        known = isinstance(value, list) and all(isinstance(each, str) and each in self.categories for each in value)
        if not isinstance(value, list) or not known or len(set(map(str, value))) != len(value):
            raise InvalidInput(f"settings: order must list ids of categories, each once, got {shown(value)}.")
        return value

    def checked_actions(self, value: Json) -> dict[str, Json]:
        """Keys that a person chose for actions; those that are not named keep theirs."""
        if not isinstance(value, dict) or set(value) - set(ACTION_KEYS):
            raise InvalidInput(f"settings: actions must be keys for {', '.join(ACTION_KEYS)}, got {shown(value)}.")
        for action, key in value.items():
            fits = isinstance(key, str) and len(key) == 1 and key.isprintable() and key == key.lower()
            if not fits or str(key) in _FIXED:
                raise InvalidInput(f"settings: the key of {action} must be one free character, got {shown(key)}.")
            if key in self.chosen.values():
                raise InvalidInput(f"settings: the key of {action} must be free, but a category was given {key!r}.")
        keys = [*{**ACTION_KEYS, **value}.values()]
        double = next((key for key in keys if keys.count(key) > 1), None)
        if double is not None:
            raise InvalidInput(f"settings: every action must have a key of its own, but two have {double!r}.")
        return value
