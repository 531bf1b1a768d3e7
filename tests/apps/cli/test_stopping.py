"""Ctrl-C, a reader that goes away, and a full disk: nothing is left half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import fewsight

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")


def environment(folder: Path) -> dict[str, str]:
    """Finds the same fewsight as this process; keeps features in the folder."""
    source = str(Path(fewsight.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "FEWSIGHT_CACHE": str(folder / "cache")}


def start(*arguments: str | Path, cwd: Path, **variables: str) -> subprocess.Popen[bytes]:
    """The command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "fewsight.apps.cli", *map(str, arguments)],
        env={**environment(cwd), **variables},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Until something is there to see, or the process ended."""
    end = time.monotonic() + 60
    while not happened() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def test_ctrl_c_while_learning_leaves_no_model(photos: Path, tmp_path: Path) -> None:
    # Endless work: every descriptor of every image, thousands of words.
    settings = ("--set", "spatial_pmk.n_words=3000", "--set", "spatial_pmk.step=1", "--jobs", "1")
    output = tmp_path / "model.fewsight"
    output.write_text("of yesterday")
    process = start("learn", photos, "-o", output, *settings, cwd=tmp_path)
    wait_for((tmp_path / "cache").is_dir, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err == b"fewsight: stopped; nothing half-written\n"
    assert output.read_text() == "of yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "model.fewsight"]


def test_being_ended_leaves_neither_a_model_nor_a_temporary_folder(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    settings = ("--set", "spatial_pmk.n_words=3000", "--set", "spatial_pmk.step=1", "--jobs", "1", "--no-cache")
    process = start("learn", photos, "-o", tmp_path / "model.fewsight", *settings, cwd=tmp_path, TMPDIR="temporary")
    wait_for(lambda: bool(os.listdir(tmp_path / "temporary")), process)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, b"", b"")
    assert os.listdir(tmp_path / "temporary") == []
    assert os.listdir(tmp_path) == ["temporary"]


def test_ctrl_c_while_predicting_leaves_no_table(model_file: Path, photos: Path, tmp_path: Path) -> None:
    script = (
        "import os, signal, fewsight.apps.workbench.predicting as p\n"
        "from fewsight.apps.cli import main\n"
        "p.BATCH = 5\n"
        "predict = p.Predictions._predict\n"
        "def interrupted(self, batch):\n"
        "    if self.n_predicted >= 10: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return predict(self, batch)\n"
        "p.Predictions._predict = interrupted\n"
        "main()"
    )
    (tmp_path / "out").mkdir()
    finished = subprocess.run(
        [sys.executable, "-c", script, "predict", str(model_file), str(photos), "-o", str(tmp_path / "out" / "t.csv")],
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (130, b"")
    assert finished.stderr == b"fewsight: stopped; nothing half-written\n"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_reader_that_goes_away_is_no_error_worth_a_word(model_file: Path, photos: Path, tmp_path: Path) -> None:
    process = start("predict", model_file, photos, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.wait(timeout=60)
    process.stderr.close()
    assert said == b""


def test_a_full_disk_is_one_sentence_and_no_file(model_file: Path, photos: Path, tmp_path: Path) -> None:
    script = (
        "import resource\n"
        "from fewsight.apps.cli import main\n"
        "import fewsight.apps.workbench\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))\n"
        "main()"
    )
    (tmp_path / "out").mkdir()
    arguments = ["predict", str(model_file), str(photos), "-o", str(tmp_path / "out" / "table.csv")]
    finished = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    assert finished.returncode == 1
    assert finished.stderr == b"fewsight: File too large.\n"
    assert list((tmp_path / "out").iterdir()) == []
