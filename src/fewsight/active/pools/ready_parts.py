"""A pool made ready for comparisons, part by part: one that grows is not made ready from the beginning again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, final

from fewsight.kernels.against import Against

Part = tuple[int, int]  # the first position, and the one after the last
Make = Callable[[int, int], list[Against[Any]]]


@final
class ReadyParts:
    """Parts of a pool, each made ready (`Against`, one for each kernel) when it is first compared with.

    Parts are joined as they come, so that there are about as many as the logarithm of the pool's size, and each example is made
    ready about that many times.
    """

    def __init__(self, make: Make, size: int, before: ReadyParts | None = None) -> None:
        """`make(start, stop)` makes some positions ready; `before` is the pool that this one goes on from."""
        self._make, self._lock = make, threading.Lock()
        self.parts: list[Part] = _grown([] if before is None else before.parts, size)
        self._ready: dict[Part, list[Against[Any]]] = {} if before is None else before._made(self.parts)

    def change(self, change: Callable[[Part, int, Against[Any]], Against[Any]]) -> None:
        """Put others in place of what was made ready: of a part, and the number of a kernel."""
        with self._lock:
            for part, ready in self._ready.items():
                self._ready[part] = [change(part, number, each) for number, each in enumerate(ready)]

    def all(self) -> list[list[Against[Any]]]:
        """Of each part, the comparison with each kernel; the parts make up the pool, in its order."""
        with self._lock:
            for part in self.parts:
                if part not in self._ready:
                    self._ready[part] = self._make(*part)
            return [self._ready[part] for part in self.parts]

    def _made(self, parts: list[Part]) -> dict[Part, list[Against[Any]]]:
        with self._lock:
            ready: Mapping[Part, list[Against[Any]]] = self._ready
            return {part: ready[part] for part in parts if part in ready}


def _grown(parts: list[Part], size: int) -> list[Part]:
    """The parts of a pool of this size: a new one that is not much smaller than the one before is joined to it."""
    start = parts[-1][1] if parts else 0
    if size <= start:
        return list(parts)
    grown = [*parts, (start, size)]
    while len(grown) > 1 and 2 * (grown[-1][1] - grown[-1][0]) >= grown[-2][1] - grown[-2][0]:
        last = grown.pop()
        grown[-1] = (grown[-1][0], last[1])
    return grown
