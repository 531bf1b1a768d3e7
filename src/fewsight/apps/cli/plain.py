"""The one place where what went wrong becomes one line on stderr and an exit code, without a traceback."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from fewsight._base.errors import FewsightError

FAILED = 1  # usage errors are 2, given by typer
STOPPED = 130  # 128 + SIGINT, what a shell expects after Ctrl-C


class PlainErrors(TyperGroup):
    """The group of all commands; it runs one, and answers plainly for whatever a person can cause."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _leave("stopped; nothing half-written", STOPPED)
        except (
            BrokenPipeError
        ):  # the reader went away, as in `fewsight predict ... | head`: typer leaves without a word
            raise
        except FewsightError as error:
            _leave(str(error), FAILED)
        except OSError as error:
            _leave(_about_the_system(error), FAILED)
        except MemoryError:
            _leave("not enough memory for this; use fewer images or a smaller codebook.", FAILED)


def printable(text: str) -> str:
    """Text that may hold a file name, as a terminal may show it: one line, no control characters, no broken bytes."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in whole)


def say(text: str) -> None:
    """One line on stderr, in the program's name."""
    sys.stderr.write(f"fewsight: {printable(text)}\n")


def _leave(text: str, code: int) -> NoReturn:
    say(text)
    raise typer.Exit(code) from None


def _about_the_system(error: OSError) -> str:
    """A sentence for what the system refused: a full disk, a missing permission."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."
