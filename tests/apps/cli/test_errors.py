"""What goes wrong is one line and an exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fewsight._base.errors import InvalidInput
from fewsight.apps.cli import app
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


WRONG = [
    "evaluate PHOTOS --per-class 30",
    "evaluate PHOTOS --channels nix",
    "evaluate PHOTOS --learners nix",
    "evaluate PHOTOS --combine nix",
    "evaluate PHOTOS --per-class 1 --hold-out 50",
    "evaluate PHOTOS --per-class 30 --baselines",
    "evaluate PHOTOS --per-class 30 --borrow",
    "evaluate PHOTOS --exclude nix",
    "learn PHOTOS -o m --channels nix",
    "learn PHOTOS -o m --channels spatial_pmk,spatial_pmk",
    "learn PHOTOS -o m --set spatial_pmk.nix=1",
    "learn PHOTOS -o m --set vocabulary_pmk.branching=0 --channels vocabulary_pmk",
    "learn PHOTOS -o m --set opponent_sift.n_trees=0 --channels opponent_sift",
    "learn PHOTOS -o m --set harris_pmk.n_components=0 --channels harris_pmk",
    "learn PHOTOS -o m --noise 0",
    "learn PHOTOS -o m --borrow --sense nix=fish",
    "learn PHOTOS -o m --borrow --refuse nix",
    "learn PHOTOS -o m --learner histogram_gp --channels phog",
    "learn nowhere -o m",
    "predict nowhere PHOTOS",
    "predict PHOTOS PHOTOS",
]


@pytest.mark.parametrize("line", WRONG)
def test_no_message_names_a_function_of_ours(
    line: str, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [str(photos) if word == "PHOTOS" else word for word in line.split()]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1, result.output
    assert len(result.stderr.splitlines()) == 1
    said = result.stderr.removeprefix("fewsight: ")
    assert not re.match(r"\w*[a-z]_\w*: ", said), said  # draw_split: ...
    assert "Traceback" not in said
