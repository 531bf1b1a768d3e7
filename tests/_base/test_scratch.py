"""A folder for one run is gone afterwards; what a killed run left is removed by the next, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fewsight._base.scratch import LOCK, PREFIX, scratch_folder

USE = """
import sys, time
from fewsight._base.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "features").write_text("many")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # looked up again
    return tmp_path


def running() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", USE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_is_gone_after_the_block(place: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == place
        (folder / "inside").mkdir()
    assert list(place.iterdir()) == []
    with pytest.raises(RuntimeError), scratch_folder():
        raise RuntimeError
    assert list(place.iterdir()) == []


def test_an_interrupt_while_the_folder_is_made_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path) -> None:
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("fewsight._base.scratch.opened_and_locked", interrupted)
    with pytest.raises(KeyboardInterrupt), scratch_folder():
        pytest.fail("the block was entered")
    assert list(place.iterdir()) == []


def test_the_folder_of_a_killed_run_goes_with_the_next_and_that_of_a_living_one_stays(place: Path) -> None:
    (killed, left), (living, used) = running(), running()
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert (left / "features").exists()
        with scratch_folder() as folder:
            assert sorted(place.iterdir()) == sorted([used, folder])
    finally:
        living.kill()
        for process in (killed, living):
            process.communicate()
    with scratch_folder():
        pass
    assert list(place.iterdir()) == []


def test_nothing_else_is_removed(place: Path) -> None:
    old = time.time() - 10_000
    kept = [place / "fewsight-other", place / f"{PREFIX}notes", place / f"{PREFIX}abcdefgh.txt", place / "elsewhere"]
    for folder in kept:
        folder.mkdir()
        (folder / LOCK).write_bytes(b"")
        os.utime(folder, (old, old))
    (place / f"{PREFIX}linked__").symlink_to(place / "elsewhere")
    (place / f"{PREFIX}just_now").mkdir()  # not locked yet
    with scratch_folder():
        pass
    assert len(list(place.iterdir())) == 6
    assert all((folder / LOCK).exists() for folder in kept)


def test_a_folder_that_was_never_locked_goes_when_it_is_old(place: Path) -> None:
    (place / f"{PREFIX}abcdefgh").mkdir()
    old = time.time() - 10_000
    os.utime(place / f"{PREFIX}abcdefgh", (old, old))
    with scratch_folder():
        pass
    assert list(place.iterdir()) == []
