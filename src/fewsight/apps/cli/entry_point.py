"""The program from its first line to its last: whatever happens, it is said in one line and there is an exit code."""

from __future__ import annotations

import os
import sys
from typing import NoReturn, TextIO

from fewsight.apps.cli.console import say
from fewsight.apps.cli.signals import STOPPED, WORDS, asked_to_stop, listen, stop_listening


def main() -> NoReturn:
    """The entry point of the installed program."""
    listen()
    _open_what_is_closed()
    code = _run()
    stop_listening()
    sys.exit(_after_writing(code))


def _run() -> int:
    """Run the command that was asked for; its exit code."""
    try:
        from fewsight.apps.cli.program import app

        app(prog_name="fewsight")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BaseException:
        if not asked_to_stop():
            raise
        say(WORDS)  # whatever became of the request on its way, such as an import that failed
    return STOPPED


def _open_what_is_closed() -> None:
    """Started with closed streams, as `>&-` does it: no file that is opened later must take their place."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def _after_writing(code: int) -> int:
    """The exit code, once the answer is in its place. What still waits in front of a full disk is given up, with a word:
    Python itself would try once more when it ends, and complain."""
    failure = _give_up(sys.stdout)
    if failure and code == 0:
        code = 1
        if not isinstance(failure, BrokenPipeError):  # the reader went away, as in `fewsight predict ... | head`
            say(f"the answer could not be written: {failure.strerror or failure}.")
    _give_up(sys.stderr)
    return code


def _give_up(stream: TextIO) -> OSError | None:
    """Write what can be written, drop the rest."""
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None
