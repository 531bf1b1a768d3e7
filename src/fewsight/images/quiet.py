"""What decoders mutter, kept inside the reader: what is wrong with a file is told once, as a reason.

Warning filters and the stream of errors belong to the whole process, and threads that save and restore them one by one
restore each other's. So the first thread to come in makes it quiet and the last one to leave ends that.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager


class _Shared:
    """A context that all threads are in together."""

    def __init__(self, begin: Callable[[], AbstractContextManager[None]]) -> None:
        self._begin = begin
        self._lock = threading.Lock()
        self._inside = 0
        self._until_the_last_leaves = contextlib.ExitStack()

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._until_the_last_leaves.enter_context(self._begin())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._until_the_last_leaves.close()


@contextlib.contextmanager
def _no_warnings_of_pillow() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    try:
        kept = os.dup(2)
    except OSError:  # it is closed already
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


quiet_pillow = _Shared(_no_warnings_of_pillow)
quiet_libtiff = _Shared(_no_stderr)  # which writes there by itself, past Python
