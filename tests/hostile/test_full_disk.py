"""A full disk: one sentence that names the file, nothing half-written, what stood there stays."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_commands import SMALL
from typer.testing import CliRunner

from fewsight.apps.cli import app
from older_results import are_older, write_older

RESULTS = ("model", "table", "json", "report")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with old results where nothing more can be written: a small disk, or else a limit on every file."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder) if can_mount(folder) else contextlib.nullcontext():
        write_older(folder)
        with full(folder):
            yield folder


def can_mount(folder: Path) -> bool:
    return (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode == 0
    )


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    if os.path.ismount(folder):
        with (folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(bytes(512)):
                pass
        yield
        return
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def check_untouched(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} - {"filler"} == set(RESULTS)
    assert are_older(folder)


@pytest.mark.parametrize(
    ("result", "arguments"),
    [
        ("model", ["learn", "photos", "-o"]),
        ("table", ["predict", "model_file", "photos", "-o"]),
        ("json", ["evaluate", "photos", "--per-class", "2", "--repeats", "1", "--json"]),
        ("report", ["evaluate", "photos", "--per-class", "2", "--repeats", "1", "--report"]),
    ],
)
def test_a_result_that_does_not_fit_is_one_sentence_and_the_old_one_stays(
    result: str, arguments: list[str], photos: Path, model_file: Path, disk: Path
) -> None:
    places = {"photos": str(photos), "model_file": str(model_file)}
    small = () if arguments[0] == "predict" else SMALL
    finished = CliRunner().invoke(app, [*(places.get(word, word) for word in arguments), str(disk / result), *small])
    assert finished.exit_code == 1, finished.output
    said = finished.stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"fewsight: {disk / result}: ")
    assert "No space left on device" in said[0] or "File too large" in said[0]
    check_untouched(disk)


def test_a_cache_that_is_full_changes_nothing_but_the_time(
    photos: Path, model_file: Path, disk: Path, tmp_path: Path
) -> None:
    arguments = ["predict", str(model_file), str(photos)]
    with_cache = CliRunner().invoke(app, arguments)
    without = CliRunner().invoke(app, [*arguments, "--cache-dir", str(disk)])
    assert (without.exit_code, without.stderr) == (0, "")
    assert without.stdout == with_cache.stdout
    assert [path for path in disk.rglob("*") if path.is_file() and path.name not in (*RESULTS, "filler")] == []
