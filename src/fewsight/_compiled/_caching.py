"""Loops whose machine code is kept between runs, wherever there is room for it."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

ROOM = 2**20  # bytes; the largest loop takes a sixth of that

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(**options: Any) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """As numba.njit with cache=True. Where nothing can be stored (a full disk, a read-only system) the loop is compiled
    anew in every run: that costs seconds, not the answer."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        try:
            loop: Any = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no folder that it may write to
            loop = None
        kept = loop is not None and _has_room(loop.stats.cache_path)
        return loop if kept else numba.njit(**options)(function)

    return decorate


@functools.cache
def _has_room(folder: str) -> bool:
    """Whether a file of some size can be written there; numba tries with an empty one, which a full disk still takes."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return file.write(bytes(ROOM)) == ROOM
    except OSError:
        return False
