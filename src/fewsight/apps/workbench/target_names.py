"""Names for the folders and files of a sorting that every file system takes, and that are not taken yet."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from typing import final

LONGEST = 200  # bytes; file systems take 255

_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')  # by Windows, in any name
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)  # by Windows, as devices


@final
class TakenNames:
    """The names in one folder; case makes no difference between them."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._taken = {_folded(name) for name in names}
        self._numbers: dict[str, int] = {}

    def take(self, name: str) -> str:
        """The name, or one with a number in it that is not taken; it is taken from then on."""
        stem, ending = os.path.splitext(name)
        found, number = name, self._numbers.get(_folded(name), 1)
        while _folded(found) in self._taken:
            number += 1
            found = f"{_shortened(stem, LONGEST - len(ending) - 10)} ({number}){ending}"
        self._numbers[_folded(name)] = number
        self._taken.add(_folded(found))
        return found


@final
class FolderNames:
    """A folder's name for each category, the same whenever it is asked for; no two differ in case only."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._names = TakenNames(taken)
        self._known: dict[str, str] = {}

    def of(self, category: str) -> str:
        """The name of the folder of a category."""
        if category not in self._known:
            self._known[category] = self._names.take(safe_name(category))
        return self._known[category]


def safe_name(name: str) -> str:
    """A name as every file system takes it.

    >>> safe_name("owl: barn/tawny?"), safe_name("CON"), safe_name("..")
    ('owl_ barn_tawny_', 'CON_', '_')
    """
    name = _REFUSED.sub("_", name.encode("utf-8", "replace").decode())
    name = _shortened(name, LONGEST).strip().rstrip(". ").lstrip(".")
    return f"{name}_" if not name or _RESERVED.fullmatch(name) else name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _shortened(name: str, length: int) -> str:
    """Cut to the given number of bytes, never inside a character."""
    content = name.encode("utf-8", "surrogateescape")
    if len(content) <= length:
        return name
    return content[: max(length, 1)].decode("utf-8", "ignore")
