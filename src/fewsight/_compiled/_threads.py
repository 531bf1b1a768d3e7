"""How a loop that can run on several threads is entered."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import numba

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
