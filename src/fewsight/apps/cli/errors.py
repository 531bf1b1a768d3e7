"""The one place where what went wrong becomes one line on stderr and an exit code, without a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from fewsight._base.errors import FewsightError
from fewsight.apps.cli.console import say
from fewsight.apps.cli.help_page import plain
from fewsight.apps.cli.signals import STOPPED, WORDS

FAILED = 1  # usage errors are 2, given by typer


class PlainErrors(TyperGroup):
    """The group of all commands; it runs one, and answers plainly for whatever a person can cause."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the program itself."""
        return plain(super().get_params(ctx))

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Read the options, or show the help."""
        with _plainly():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _plainly():
            return super().invoke(ctx)


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _leave(WORDS, STOPPED)
    except BrokenPipeError:  # the reader went away, as in `fewsight predict ... | head`: left without a word
        raise
    except FewsightError as error:
        _leave(str(error), FAILED)
    except OSError as error:
        _leave(_about_the_system(error), FAILED)
    except MemoryError:
        _leave("not enough memory for this; use fewer images or a smaller codebook.", FAILED)


def _leave(text: str, code: int) -> NoReturn:
    say(text)
    raise typer.Exit(code) from None


def _about_the_system(error: OSError) -> str:
    """A sentence for what the system refused: a full disk, a missing permission."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."
