"""Being asked to stop: Ctrl-C, a shutdown, a terminal that is closed. Each leaves through every clean-up, once.

What makes the program leave is an exception. Threads finish the images in their hands and temporary files are removed while
it is on its way, so further requests are not heard until then. Some code swallows every exception (many an import does);
so it is raised again, a moment later, until the program is gone.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

STOPPED = 130  # 128 + SIGINT, what a shell expects after Ctrl-C
WORDS = "stopped; nothing half-written"
AGAIN_SECONDS = 0.5

_REQUESTS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last, and SIGALRM
_AGAIN = getattr(signal, "SIGALRM", None)
_asked_by: int | None = None
_undisturbed = False
_on_its_way: weakref.ref[BaseException] | None = None
_event: threading.Event | None = None


class Stopped(KeyboardInterrupt):
    """Ctrl-C. Not the plain KeyboardInterrupt: where that has passed an `exec`, Python ends by signal, whoever caught it."""


class Ended(SystemExit):
    """Another request to stop."""


def listen() -> None:
    """Hear requests to stop; what the program was started to ignore (as by nohup) stays ignored."""
    for number in _signals():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    sys.unraisablehook = _show_unraisable


def stop_listening() -> None:
    """All is written and removed: a request that comes now changes nothing."""
    for number in _signals():
        signal.signal(number, signal.SIG_IGN)


def asked_to_stop() -> bool:
    """Whether there was a request."""
    return _asked_by is not None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Requests are heard after the block. For imports: an interrupted one may print, or leave half a module behind."""
    global _undisturbed
    _undisturbed = True
    try:
        yield
    finally:
        _undisturbed = False
    if _asked_by is not None:
        _leave(_asked_by, None)


@contextlib.contextmanager
def stop_event() -> Iterator[threading.Event]:
    """Inside the block the first request to stop sets an event and raises nothing: the ordinary end of a command that serves.

    A second request while the block still ends is heard as everywhere else.
    """
    global _event
    _event = threading.Event()
    try:
        yield _event
    finally:
        _event = None


def _signals() -> list[int]:
    known = [getattr(signal, name, None) for name in _REQUESTS]
    return [number for number in (*known, _AGAIN) if number is not None]


def _leave(number: int, frame: Any) -> None:
    """Raise what makes the program leave, unless that is on its way already."""
    global _asked_by, _on_its_way
    if _event is not None and not _event.is_set():
        _event.set()
        return
    if number != _AGAIN:
        _asked_by = number
    if _undisturbed:
        return
    if _AGAIN is not None:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    if _on_its_way is None or _on_its_way() is None:
        error = Stopped() if _asked_by == signal.SIGINT else Ended(128 + (_asked_by or 0))
        _on_its_way = weakref.ref(error)
        try:
            raise error
        finally:
            del error  # this frame is part of the traceback: the exception would never be gone


def _show_unraisable(failure: Any) -> None:
    """Where no exception can be raised, as in a callback from C, Python shows it; a request to stop comes again anyway."""
    if not isinstance(failure.exc_value, (Stopped, Ended)):
        sys.__unraisablehook__(failure)
