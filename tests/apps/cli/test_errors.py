"""What goes wrong is one line and an exit code."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from fewsight._base.errors import InvalidInput
from fewsight.apps.cli.errors import PlainErrors


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidInput("this: must be that,\ngot other."), 1, "fewsight: this: must be that,\\ngot other.\n"),
        (OSError(28, "No space left on device", "out.csv"), 1, "fewsight: out.csv: No space left on device.\n"),
        (PermissionError(13, "Permission denied"), 1, "fewsight: Permission denied.\n"),
        (KeyboardInterrupt(), 130, "fewsight: stopped; nothing half-written\n"),
        (MemoryError(), 1, "fewsight: not enough memory for this; use fewer images or a smaller codebook.\n"),
    ],
)
def test_what_goes_wrong_is_one_line_and_a_code(error: BaseException, code: int, said: str) -> None:
    failing = typer.Typer(cls=PlainErrors)

    @failing.command()
    def command() -> None:
        raise error

    @failing.command()
    def other() -> None: ...

    result = CliRunner().invoke(failing, ["command"])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", said)


def test_a_fault_of_the_program_itself_is_not_hidden() -> None:
    failing = typer.Typer(cls=PlainErrors)

    @failing.command()
    def command() -> None:
        raise ZeroDivisionError

    @failing.command()
    def other() -> None: ...

    assert isinstance(CliRunner().invoke(failing, ["command"]).exception, ZeroDivisionError)
