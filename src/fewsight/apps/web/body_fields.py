"""What a request says, field by field: all of them known, none of them larger than it needs to be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from fewsight.apps.web.problems import Problem

MOST_IMAGES = 1_000  # in one act
MOST_HELD = 60  # that a tab says it has
LONGEST_TEXT = 200

T = TypeVar("T")
Check = Callable[[object], T]
Json = object

_HASH = re.compile(r"[0-9a-f]{40}")
_ID = re.compile(r"[0-9a-f]{8,64}")
_CATEGORY = re.compile(r"[0-9a-zA-Z:_-]{1,100}")


def read_fields(body: bytes, needed: Mapping[str, Check[Json]], optional: Mapping[str, Check[Json]]) -> dict[str, Json]:
    """The fields of a JSON object; a name that is not expected, or a value that does not fit, is refused."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Problem(400, "The body must be JSON.") from None
    if not isinstance(found, dict):
        raise Problem(400, "The body must be a JSON object.")
    return check_fields(found, needed, optional)


def check_fields(
    found: Mapping[str, Json], needed: Mapping[str, Check[Json]], optional: Mapping[str, Check[Json]]
) -> dict[str, Json]:
    """As `read_fields`, of what has been read already, such as a query."""
    checks = {**needed, **optional}
    unknown = sorted(set(found) - set(checks))
    missing = sorted(set(needed) - set(found))
    if unknown:
        raise Problem(400, f"{ascii(unknown[0])[:60]} is not a field of this request.")
    if missing:
        raise Problem(400, f"{missing[0]} is missing.")
    return {name: _checked(name, checks[name], value) for name, value in found.items()}


def _checked(name: str, check: Check[Json], value: Json) -> Json:
    try:
        return check(value)
    except ValueError as error:
        raise Problem(400, f"{name} must be {error}, got {ascii(value)[:60]}.") from None


def image(value: Json) -> str:
    """A content hash."""
    return _matching(value, _HASH, "the hash of an image (40 hexadecimal digits)")


def images(value: Json) -> tuple[str, ...]:
    """Content hashes."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_IMAGES:
        raise ValueError(f"a list of 1 to {MOST_IMAGES:,} images")
    return tuple(image(each) for each in value)


def held(value: Json) -> tuple[str, ...]:
    """The content hashes of what a tab has, none or some; in a query they are joined by commas."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or len(given) > MOST_HELD:
        raise ValueError(f"a list of at most {MOST_HELD} images")
    return tuple(image(each) for each in given)


def identifier(value: Json) -> str:
    """The id of a tab or of a request."""
    return _matching(value, _ID, "8 to 64 hexadecimal digits")


def category(value: Json) -> str:
    """The id of a category."""
    return _matching(value, _CATEGORY, "the id of a category")


def text(value: Json) -> str:
    """A short text; what it may hold is the workbench's business."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        raise ValueError(f"a text of 1 to {LONGEST_TEXT} characters")
    return value


def one_of(*known: str) -> Check[Json]:
    """One of a few words."""

    def check(value: Json) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value

    return check


def or_none(check: Check[Json]) -> Check[Json]:
    """As `check`, or null."""
    return lambda value: None if value is None else check(value)


def count(least: int, most: int) -> Check[Json]:
    """A whole number, also as a text, which is what a query holds."""

    def check(value: Json) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return value

    return check


def share(value: Json) -> float:
    """A number from 0 to 1, also as a text."""
    if isinstance(value, str):
        try:
            value = float(value[:20])
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return float(value)


def table(value: Json) -> dict[str, Json]:
    """A small object, such as the settings that change."""
    if not isinstance(value, dict) or len(value) > 20:
        raise ValueError("an object of at most 20 names")
    return value


def _matching(value: Json, pattern: re.Pattern[str], what: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(what)
    return value
