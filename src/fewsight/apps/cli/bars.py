"""Progress bars with an estimate of the time left, on stderr, only when somebody is looking."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def progress_bars() -> Iterator[None]:
    """Show a bar for each piece of long work inside the block; silent when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from fewsight._base.progress import reporting

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:

        def report(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
            task = progress.add_task(what or "working", total=total)
            try:
                for item in items:
                    yield item
                    progress.advance(task)
            finally:
                progress.remove_task(task)

        with reporting(report):
            yield
