"""What the program says on stderr."""

from __future__ import annotations

import contextlib
import sys


def say(text: str) -> None:
    """One line on stderr, in the program's name; where that cannot be written, nobody can be told."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"fewsight: {printable(text)}\n")


def printable(text: str) -> str:
    """Text that may hold a file name, as a terminal may show it: one line, no control characters, no broken bytes."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in whole)
