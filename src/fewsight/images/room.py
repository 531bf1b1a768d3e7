"""Room for decoded pixels: however many threads read images, only so many pixels are decoded at the same time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


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
