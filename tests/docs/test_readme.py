"""Every command of the README is run, on small folders with the names that it uses."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from typer.testing import CliRunner

from fewsight.apps.cli.program import app
from fewsight.evaluation import Protocol
from fewsight.images import Image, sample_set

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?:^    .*\n)+", re.sub(r"```.*?```", "", README, flags=re.DOTALL), re.MULTILINE)
COMMANDS = [line.strip() for block in BLOCKS for line in block.splitlines()]
FOLDERS = {  # as the README names them: how many images of each category
    "birds": {"heron": 9, "stork": 9, "gull": 9, "owl": 9},
    "photos": {"llama": 7, "okapi": 7, "chair": 7, "gerenuk": 4},
}
SECONDS = 120  # until the page of `fewsight label` has an address, on a machine that does other things too


def arguments(command: str) -> list[str]:
    """A line of the README as a shell reads it, without the comment behind it."""
    return shlex.split(command, comments=True)


def test_every_line_is_a_command_that_is_known_here() -> None:
    """Whatever the README tells a reader to type is run below, by whoever runs `make test`, or by `make dist`."""
    assert {command.split()[0] for command in COMMANDS} == {"git", "make", "source", "fewsight", "pip"}
    assert sum(command.startswith("fewsight ") for command in COMMANDS) >= 6
    made = [command.split("#")[0].split() for command in COMMANDS if command.startswith("make ")]
    assert made == [["make", "demo"]]
    quiet = ["make", "--no-print-directory", "--dry-run", "demo"]  # also inside `make test`
    recipe = subprocess.run(quiet, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert recipe.splitlines()[-1] == ".venv/bin/fewsight demo --output fewsight-demo"


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
    shorten_the_demonstration(monkeypatch)
    for folder, categories in FOLDERS.items():
        for (category, count), name in zip(categories.items(), ("brick", "grass", "tissue", "coins"), strict=True):
            write(tmp_path / folder / category, tiles_of(name)[:count])
            write(tmp_path / "new_photos", tiles_of(name)[20:22], before=name)
    for command in COMMANDS:
        program, *given = arguments(command.replace("make demo", "fewsight demo --output fewsight-demo"))
        if program == "fewsight" and given[0] == "label":
            open_the_page(given, tmp_path)
        elif program == "fewsight":
            result = CliRunner().invoke(app, given)
            assert result.exit_code == 0, f"{command}\n{result.output}"
            for option, path in itertools.pairwise(given):
                if option in ("-o", "--report", "--json"):
                    assert (tmp_path / path).exists(), command
    assert {"coins", "galaxies"} <= {path.name for path in (tmp_path / "fewsight-demo" / "sorted").iterdir()}


def shorten_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run whole by a test of its own."""
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.PROTOCOL", Protocol(None, (1, 3), 3, 1))
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.EXAMPLES_TO_LEARN", 3)
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.STARTS", 1)
    tiles = sample_set()
    few = [place for name in tiles.classes[:6] for place in np.flatnonzero(tiles.labels == name)[:8]]
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.sample_set", lambda: tiles.select(few))


def open_the_page(given: list[str], folder: Path) -> None:
    """As a reader would, until the page answers; then Ctrl-C."""
    command = [sys.executable, "-m", "fewsight.apps.cli", *given]
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            with browser.open(running.stdout.readline().strip(), timeout=SECONDS) as answer:
                assert answer.status == 200
            running.send_signal(signal.SIGINT)
            said, _ = running.communicate(timeout=SECONDS)
        finally:
            running.kill()
    assert "To go on: fewsight label" in said


def tiles_of(name: str) -> list[Image]:
    samples = sample_set()
    return [image for image, label in zip(samples.images, samples.labels, strict=True) if label == name]


def write(folder: Path, images: list[Image], before: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        pixels = np.rint(255 * image.pixels()).astype(np.uint8)
        Pillow.fromarray(pixels).save(folder / f"{before}{number}.png")
