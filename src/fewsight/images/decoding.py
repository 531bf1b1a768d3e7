"""What surrounds the decoders of image files: room for pixels, silence, and a look at what a JPEG would cost.

However many threads read images, a limited number of pixels is decoded at a time. What decoders print stays inside the
reader: what is wrong with a file is told once, as a reason. Warning filters and the stream of errors belong to the whole
process, and threads that save and restore them one by one restore each other's. So the first thread to come in makes it
quiet and the last one to leave ends that.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

MAX_SCANS = 100  # a progressive file has about ten; each takes as long as the whole image, however few bytes it has

_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")  # without those that stand inside the data of a scan
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA


class Room:
    """A number that threads share; who finds too little left of it waits."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def taken(self, amount: int) -> Iterator[None]:
        """Hold an amount during the block; more than there is at all is given to one thread alone."""
        amount = min(amount, self._size)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= amount)
            self._free -= amount
        try:
            yield
        finally:
            with self._changed:
                self._free += amount
                self._changed.notify_all()


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


def has_too_many_scans(content: bytes) -> bool:
    """Whether a file makes its decoder go over the image more often than any camera or program would."""
    position = scans = 0
    while scans <= MAX_SCANS and (found := _MARKER.search(content, position)):
        kind, position = found[1][0], found.end()
        if kind == _END:  # what comes after the image is no concern of a decoder
            break
        if kind != _START:
            position += max(2, int.from_bytes(content[position : position + 2], "big"))
        scans += kind == _SCAN
    return scans > MAX_SCANS
