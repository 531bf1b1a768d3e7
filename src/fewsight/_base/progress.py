"""Progress of long work. The library reports, an app shows: nothing is printed unless somebody asked for it."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
Reporter = Callable[[Iterable[Any], str, int], Iterable[Any]]

_reporter: contextvars.ContextVar[Reporter | None] = contextvars.ContextVar("fewsight_progress", default=None)


def track(items: Iterable[Item], what: str, total: int) -> Iterable[Item]:
    """The same items, reported one by one as they pass, if somebody listens."""
    reporter = _reporter.get()
    return items if reporter is None else reporter(items, what, total)


@contextlib.contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Let a reporter hear of everything tracked inside the block."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Nobody hears of what happens inside the block: for work that is a step of something already reported."""
    token = _reporter.set(None)
    try:
        yield
    finally:
        _reporter.reset(token)
