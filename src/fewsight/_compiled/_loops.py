"""How a loop is entered that takes a few columns at a time, and can run on several threads."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._lanes import LANES

Result = TypeVar("Result")

WORTH_SHARING = 1_000_000  # steps, about a millisecond; below, waking a second thread on a busy machine costs more

_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def threads_for(steps: float) -> Iterator[None]:
    """Inside, loops run on one thread if they take few steps, and only one Python thread is inside at a time.

    numba's simplest thread pool, the one that is always there, ends the process when two Python threads enter it at once.
    """
    with _one_at_a_time:
        before = numba.get_num_threads()
        numba.set_num_threads(before if steps >= WORTH_SHARING else 1)
        try:
            yield
        finally:
            numba.set_num_threads(before)


def use_one_thread() -> None:
    """Loops that this Python thread enters run on one thread from now on: for a thread that must not wait on a busy machine."""
    numba.set_num_threads(1)


def in_shares(work: Callable[[int, int], Result], starts: npt.NDArray[Any]) -> list[Result]:
    """`work(first, last)` for each thread's share of the pieces, in their order; piece p takes the steps from starts[p] to
    starts[p + 1].

    `work` enters a loop that releases Python's lock (nogil=True) and keeps to arrays of its own, so that threads never wait for
    each other and nothing depends on which is first.
    """
    steps, n_pieces = float(starts[-1]), len(starts) - 1
    parts = numba.get_num_threads() if steps >= WORTH_SHARING else 1
    if parts == 1:
        return [work(0, n_pieces)]
    inner = np.searchsorted(starts[1:], steps * np.arange(1, parts) / parts, side="right")
    spans = list(itertools.pairwise([0, *inner.tolist(), n_pieces]))
    waiting = [_pool(os.getpid()).submit(work, *span) for span in spans[1:]]
    return [work(*spans[0]), *(future.result() for future in waiting)]


@functools.cache
def _pool(process: int) -> concurrent.futures.ThreadPoolExecutor:
    """Threads that wait for work; those of a parent process do not survive its fork."""
    return concurrent.futures.ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS, thread_name_prefix="fewsight")


def summed(work: Callable[[int, int], Array], starts: npt.NDArray[Any]) -> Array:
    """The sum of what `in_shares` returns."""
    first, *others = in_shares(work, starts)
    for other in others:
        first += other
    return first


def blocks(V: Array) -> list[slice]:
    """All columns of V, LANES at a time."""
    return [slice(left, left + LANES) for left in range(0, V.shape[1], LANES)]


def padded(block: Array, always: bool = False) -> Array:
    """The columns with zeros after them, LANES in all, contiguous; a single column stays alone, unless `always`."""
    if block.shape[1] == LANES or (block.shape[1] == 1 and not always):
        return np.ascontiguousarray(block)
    whole = np.zeros((len(block), LANES))
    whole[:, : block.shape[1]] = block
    return whole
