"""The process that prepares images: `python -m fewsight.apps.workbench.image_process`.

It reads a task from each line of its input and answers with a line on its output, both JSON. It has low priority and ends when
its input ends (its parent closed it, or is gone): it listens for that before it imports anything large, which may take seconds
on a busy machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from typing import IO

NICENESS = 10


def main() -> None:
    """Answer until the input ends."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear; it closes our input
    tasks: queue.SimpleQueue[Mapping[str, object]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    if hasattr(os, "nice"):  # Windows: the parent asks for low priority when it starts us
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
    from fewsight.apps.workbench.image_worker import serve

    serve(tasks, answers)


def _listen(lines: IO[bytes], tasks: queue.SimpleQueue[Mapping[str, object]]) -> None:
    """The input ends when the parent does, however it ends; then so do we, whatever we are at."""
    for line in lines:
        tasks.put(json.loads(line))
    os._exit(0)


def _own_output() -> IO[bytes]:
    """The output for answers; what libraries print goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


if __name__ == "__main__":
    main()
