"""Every command of the README is run, on small folders with the names that it uses."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from typer.testing import CliRunner

from fewsight.apps.cli.program import app
from fewsight.images import Image, sample_set

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in re.findall(r"^    ((?:fewsight|make|pip) .*)$", README, re.MULTILINE)]
ELSEWHERE = {"make demo", "make test", "fewsight label"}  # run by whoever runs these, and by the tests in a browser
FOLDERS = {  # as the README names them: how many images of each category
    "birds": {"heron": 9, "stork": 9, "gull": 9, "owl": 9},
    "photos": {"llama": 7, "okapi": 7, "chair": 7, "gerenuk": 4},
}


def arguments(command: str) -> list[str]:
    """A line of the README as a shell reads it, without the comment behind it."""
    return shlex.split(command, comments=True)


def test_there_are_commands_and_the_targets_that_are_made_exist() -> None:
    assert sum(command.startswith("fewsight ") for command in COMMANDS) >= 4
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {command.split()[1] for command in COMMANDS if command.startswith("make ")} <= set(targets)


def test_what_pip_installs_is_the_checkout_with_extras_that_there_are() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    for command in COMMANDS:
        if command.startswith("pip "):
            *_, what = arguments(command)
            assert what.partition("[")[0] in (".", "dist/fewsight-0.1.0-py3-none-any.whl"), (
                command
            )  # there is no release
            for extra in re.findall(r"\[(.+)\]", what):
                assert all(f"\n{name} = [" in project for name in extra.split(",")), command


@pytest.mark.slow
def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWSIGHT_CACHE", str(tmp_path / "cache"))
    # Where the README leaves channels to the default, which is slower:
    monkeypatch.setenv("FEWSIGHT_CHANNELS", "colour,texture")
    for folder, categories in FOLDERS.items():
        for (category, count), name in zip(categories.items(), ("brick", "grass", "tissue", "coins"), strict=True):
            write(tmp_path / folder / category, tiles_of(name)[:count])
            write(tmp_path / "new_photos", tiles_of(name)[20:22], before=name)
    for command in COMMANDS:
        program, *given = arguments(command)
        if program != "fewsight" or f"fewsight {given[0]}" in ELSEWHERE:
            continue
        result = CliRunner().invoke(app, given)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        for option, path in itertools.pairwise(given):
            if option in ("-o", "--report", "--json"):
                assert (tmp_path / path).exists(), command


def tiles_of(name: str) -> list[Image]:
    samples = sample_set()
    return [image for image, label in zip(samples.images, samples.labels, strict=True) if label == name]


def write(folder: Path, images: list[Image], before: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        pixels = np.rint(255 * image.pixels()).astype(np.uint8)
        Pillow.fromarray(pixels).save(folder / f"{before}{number}.png")
