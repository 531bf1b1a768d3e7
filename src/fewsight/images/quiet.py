"""Pillow's warnings, kept inside the reader: what is wrong with a file is told once, as a reason."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator

_lock = threading.Lock()
_inside = 0
_filters = contextlib.ExitStack()


@contextlib.contextmanager
def quiet_pillow() -> Iterator[None]:
    """Nothing that Pillow warns of inside the block is heard.

    Warning filters belong to the whole process, and threads that save and restore them one by one restore each other's.
    So the first thread to come in sets the filter and the last one to leave takes it away.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside
    with _lock:
        if _inside == 0:
            _filters.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", module=r"PIL\.")
        _inside += 1


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            _filters.close()
