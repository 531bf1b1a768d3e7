"""Progress of long work. The library reports, an app shows: nothing is printed unless somebody asked for it."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
Reporter = Callable[[Iterable[Any], str, int], Iterable[Any]]

_reporter: contextvars.ContextVar[Reporter | None] = contextvars.ContextVar("fewsight_progress", default=None)


def track(items: Iterable[Item], what: str, total: int) -> Iterable[Item]:
    """The same items, reported one by one as they pass, if somebody listens."""
    reporter = _reporter.get()
    return items if reporter is None else reporter(items, what, total)


@contextlib.contextmanager
def steps_of(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """For work that is no loop over items: what it is given is called with how many of `total` steps are behind it.

    At the end of the block all are, unless it ends by an exception.
    """
    steps, done = iter(track(range(total), what, total)), 0

    def reach(step: int) -> None:
        nonlocal done
        while done < min(step, total):
            next(steps, None)
            done += 1

    try:
        yield reach
        reach(total)
        next(steps, None)  # a bar that waits for the end
    finally:
        if isinstance(steps, Generator):
            steps.close()


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
