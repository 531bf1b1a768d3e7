"""The program as a whole: quick to start, helpful, and plain about what goes wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import Result

from fewsight.apps.cli import app
from fewsight.apps.cli.options import GROUPS

COMMANDS = ("demo", "learn", "predict", "evaluate", "channels", "parts")
HEAVY = {"numpy", "scipy", "sklearn", "numba", "cv2", "skimage", "matplotlib", "PIL", "joblib"}


def test_nothing_heavy_is_imported_before_a_command_runs() -> None:
    script = "import sys, fewsight.apps.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert HEAVY & set(loaded) == set()


def test_help_names_every_command(run: Callable[..., Result]) -> None:
    text = run("--help").stdout
    assert all(command in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_every_command_has_an_example(command: str) -> None:
    known = typer.main.get_command(app).commands[command]
    assert known.help
    assert f"fewsight {command}" in known.epilog or command == "channels"
    assert [option.name for option in known.params if not getattr(option, "help", None)] == []


def test_the_version_is_said(run: Callable[..., Result]) -> None:
    from fewsight import __version__

    assert run("--version").stdout == f"fewsight {__version__}\n"


def test_no_command_shows_the_help(run: Callable[..., Result]) -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage: fewsight" in result.output or "Usage: root" in result.output or "COMMAND" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["paint"],
        ["learn"],
        ["learn", "photos"],
        ["predict", "model.fewsight"],
        ["evaluate", "photos", "--repeats", "0"],
        ["evaluate", "photos", "--per-class", "1,some"],
        ["evaluate", "photos", "--per-class", "0"],
        ["evaluate", "photos", "--per-class", ","],
        ["evaluate", "photos", "--noise", "much"],
        ["demo", "--no-cache", "--cache-dir", "x"],
        ["demo", "--jobs", "0"],
    ],
)
def test_wrong_usage_is_code_2(arguments: list[str], run: Callable[..., Result]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_channels_are_listed_with_options_that_can_be_set_as_shown(run: Callable[..., Result]) -> None:
    from fewsight.apps.workbench import describe_channels, read_settings

    lines = run("channels").stdout.splitlines()
    assert lines[0].startswith("spatial_pmk: ")
    settings = [line.split()[1] for line in lines if line.startswith("  --set ")]
    assert "spatial_pmk.n_words=400" in settings
    assert read_settings(settings) == {channel.name: channel.options for channel in describe_channels()}


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fewsight.apps.cli", "--help"]
    assert b"Usage: fewsight" in subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.parametrize("command", ["learn", "evaluate"])
def test_a_seed_that_scikit_learn_would_refuse_is_a_usage_error(command: str, run: Callable[..., Result]) -> None:
    output = ("-o", "model") if command == "learn" else ()
    result = run(command, "photos", *output, "--seed", 2**32)
    assert result.exit_code == 2
    assert "--seed" in result.stderr


@pytest.mark.parametrize("verb", sorted(typer.main.get_command(app).commands))
def test_help_names_no_python_type(run: Callable[..., Result], verb: str) -> None:
    said = run(verb, "--help").stdout
    assert not re.search(r"<(?:bool|path|str|list)|[{}]", said)
    assert "Usage:" in said


def test_help_shows_the_groups_in_one_order(run: Callable[..., Result]) -> None:
    for verb in ("learn", "evaluate"):
        said = run(verb, "--help").stdout
        places = [said.index(f" {group} ") for group in GROUPS if f"─ {group} ─" in said]
        assert len(places) >= 5
        assert places == sorted(places)


def test_paragraphs_of_help_are_wrapped_by_the_terminal_and_tables_are_not() -> None:
    sort = typer.main.get_command(app).commands["sort"].help
    predict = typer.main.get_command(app).commands["predict"].help
    assert sort is not None
    assert predict is not None
    assert "\n" not in sort.split("\n\n")[1]
    assert "\ncategory     the most probable category\n" in predict
