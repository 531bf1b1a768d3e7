"""A file is written whole or not at all, is on the disk when writing ends, and a killed writer leaves nothing for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fewsight
from fewsight._base.replacement import remove_abandoned, replacing, write_text

LEFT = f".writing-{8 * '0a'}"
# Writes the same file again and again, each time with another byte, many times over.
WRITER = """
import sys
from pathlib import Path
from fewsight._base.replacement import replacing

path = Path(sys.argv[1])
for number in range(1_000_000):
    with replacing(path) as stream:
        for _ in range(40):
            stream.write(bytes([number % 256]) * 5_000)
            stream.flush()
        if number == 0:
            print("writing", flush=True)
"""


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def killed_while_writing(path: Path, seconds: float) -> None:
    """Start a process that writes the file, and kill it after so long."""
    source = str(Path(fewsight.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_a_killed_writer_leaves_the_old_file_or_the_new_one_and_the_next_cleans_up(kills: int, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "model"
    path.write_bytes(b"\xff" * 200_000)
    left = 0
    for seconds in rng.uniform(0, 0.03, size=kills):
        killed_while_writing(path, seconds)
        content = path.read_bytes()
        assert len(content) == 200_000
        assert len(set(content)) == 1, "two writes in one file"
        left += len(names(tmp_path)) > 1
        write_text(tmp_path / "other", "the next run")
        assert names(tmp_path) == ["model", "other"]
        (tmp_path / "other").unlink()
    assert left > 0, "no kill came while something was half-written"


def test_what_others_are_writing_is_left_alone(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as one:
        one.write(b"a")
        with replacing(tmp_path / "b") as other:
            other.write(b"b")
            remove_abandoned(tmp_path)
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes() == b"ab"
    assert names(tmp_path) == ["a", "b"]


def test_only_files_that_have_our_name_are_removed(tmp_path: Path) -> None:
    for name in (".writing-mine", "writing-" + 8 * "0a", LEFT + ".txt", LEFT):
        (tmp_path / name).write_text("half")
    (tmp_path / LEFT.replace("a", "b")).mkdir()
    write_text(tmp_path / "x", "new")
    assert names(tmp_path) == sorted(
        [".writing-mine", "writing-" + 8 * "0a", LEFT + ".txt", LEFT.replace("a", "b"), "x"]
    )


def test_a_file_that_was_taken_for_abandoned_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process removes it in the moment between its making and its lock."""
    calls: list[Any] = []

    def flock(stream: Any, operation: int) -> None:
        if not calls:
            remove_all_temporary(tmp_path)
        calls.append(operation)

    monkeypatch.setattr("fewsight._base.replacement.fcntl.flock", flock)
    write_text(tmp_path / "x", "text")
    assert (names(tmp_path), (tmp_path / "x").read_text()) == (["x"], "text")
    assert len(calls) == 2


def remove_all_temporary(folder: Path) -> None:
    for path in folder.glob(".writing-*"):
        path.unlink()


@pytest.mark.parametrize("operation", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_the_old_file_and_no_other(
    operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(tmp_path / "x", "old")
    monkeypatch.setattr(f"fewsight._base.replacement.os.{operation}", failing)
    with pytest.raises(OSError, match="Input/output error"):
        write_text(tmp_path / "x", "new")
    assert (names(tmp_path), (tmp_path / "x").read_text()) == (["x"], "old")


def failing(*_: Any) -> None:
    raise OSError(5, "Input/output error")


def test_the_content_is_on_the_disk_before_the_rename_and_the_rename_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr("fewsight._base.replacement.os.fsync", noted(os.fsync, done, tmp_path))
    monkeypatch.setattr("fewsight._base.replacement.os.replace", noted(os.replace, done, tmp_path))
    write_text(tmp_path / "x", "text")
    assert done == ["fsync of a file of 4 bytes", "replace", "fsync of the folder"]
    done.clear()
    with replacing(tmp_path / "x", durable=False) as stream:
        stream.write(b"text")
    assert done == ["replace"]


def noted(function: Callable[..., Any], done: list[str], folder: Path) -> Callable[..., Any]:
    def wrapper(*arguments: Any) -> Any:
        if function.__name__ == "fsync":
            status = os.fstat(arguments[0])
            same = os.path.samestat(status, os.stat(folder))
            done.append("fsync of the folder" if same else f"fsync of a file of {status.st_size} bytes")
        else:
            done.append(function.__name__)
        return function(*arguments)

    return wrapper


def test_a_disk_without_locks_is_written_to_and_nothing_is_taken_for_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / LEFT).write_text("half")
    monkeypatch.setattr("fewsight._base.replacement.fcntl.flock", failing)
    write_text(tmp_path / "x", "text")
    assert names(tmp_path) == [LEFT, "x"]


def test_without_locks_at_all_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    young = tmp_path / LEFT.replace("a", "b")
    for path in (tmp_path / LEFT, young):
        path.write_text("half")
    os.utime(tmp_path / LEFT, (1, 1))
    monkeypatch.setattr("fewsight._base.replacement.fcntl", None)
    write_text(tmp_path / "x", "text")
    assert names(tmp_path) == [young.name, "x"]


def test_what_could_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere/x") as refusal:
        write_text(tmp_path / "nowhere" / "x", "text")
    assert refusal.value.filename == str(tmp_path / "nowhere" / "x")
