"""What a person may set: their name, keys and order of the categories, keys of actions, and channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

from fewsight._base.checks import check_choice, check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.key_layout import KeyLayout
from fewsight.apps.workbench.project.events import Json
from fewsight.apps.workbench.verbs import Workbench, check_person


@final
class SessionSettings:
    """The settings of a project that a page shows and changes."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def keys(self, categories: Mapping[str, str]) -> KeyLayout:
        """Which keys stand for these categories."""
        kept = self._bench.file.setting
        return KeyLayout(categories, kept("keys", {}), kept("order", []), kept("actions", {}))

    def set_key(self, categories: Mapping[str, str], category: str, key: str | None) -> None:
        """Let a key stand for a category; None for the next free one."""
        self._bench.file.set("keys", self.keys(categories).with_key(category, key).chosen)

    def shown(self, categories: Mapping[str, str]) -> dict[str, Json]:
        """All of them."""
        layout = self.keys(categories)
        return {
            "name": self._bench.who,
            "keys": layout.chosen,
            "order": [*layout.order()],
            "actions": layout.own_actions,
            "channels": self._bench.file.setting("channels", []),
        }

    def change(self, categories: Mapping[str, str], changes: dict[str, Json]) -> None:
        """Change some; all are checked before the first is kept."""
        layout = self.keys(categories)
        check: dict[str, Callable[[Json], Json]] = {
            "name": _name,
            "keys": layout.checked_keys,
            "order": layout.checked_order,
            "actions": layout.checked_actions,
            "channels": _channels,
        }
        for name in changes:
            check_choice("settings", "a setting", name, check)
        checked: dict[str, Json] = {name: check[name](value) for name, value in changes.items()}
        for name, value in checked.items():
            if name != "name":
                self._bench.file.set(name, value)
            elif value != self._bench.who:
                self._bench.call_me(str(value))

    @property
    def channels(self) -> list[str]:
        """Names of the channels that images are compared by; none where nobody chose any."""
        return [str(name) for name in _channels(self._bench.file.setting("channels", []))]

    def seed(self, wanted: int | None) -> int:
        """The seed of the project, kept when it is first opened."""
        known = self._bench.file.setting("seed")
        if wanted is None and isinstance(known, int):
            return known
        chosen = 0 if wanted is None else check_integer("session", "seed", wanted, least=0, most=2**32 - 1)
        if chosen != known and self._bench.file.writable:
            self._bench.file.set("seed", chosen)
        return chosen


def _name(value: Json) -> Json:
    return check_person(value if isinstance(value, str) else shown(value))


def _channels(value: Json) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInput(f"settings: channels must be a list of names, got {shown(value)}.")
    return value
