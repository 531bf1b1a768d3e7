"""The header of a model file as a hostile author would write it: any part changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Header = dict[str, Any]


def edited_headers(header: Header) -> Iterator[Callable[[Any], Header]]:
    """For every place in a header, what puts another value there."""
    for keys in _places(header, ()):
        yield lambda value, keys=keys: _with(header, keys, value)


def _places(value: Any, keys: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if keys:
        yield keys
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _places(part, (*keys, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _places(part, (*keys, number))


def _with(header: Header, keys: tuple[Any, ...], value: Any) -> Header:
    copy: Any = json.loads(json.dumps(header))
    inner = copy
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return copy
