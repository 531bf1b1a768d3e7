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
from older_results import OLDER

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


@pytest.mark.parametrize("jobs", ["2", pytest.param("1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, b"fewsight: stopped; nothing half-written\n"), (signal.SIGTERM, 143, b"")],
)
def test_being_stopped_while_learning_leaves_what_was_there_and_no_temporary_folder(
    number: int, code: int, said: bytes, jobs: str, photos: Path, tmp_path: Path
) -> None:
    output, temporary = tmp_path / "model.fewsight", tmp_path / "temporary"
    output.write_bytes(OLDER["model"])
    temporary.mkdir()
    # Endless work: every descriptor of every image, thousands of words. With two jobs, threads are at work meanwhile.
    settings = ("--set", "spatial_pmk.n_words=3000", "--set", "spatial_pmk.step=1", "--jobs", jobs, "--no-cache")
    process = start("learn", photos, "-o", output, *settings, cwd=tmp_path, TMPDIR="temporary")
    wait_for(lambda: any(temporary.glob("fewsight-*/*/*")), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", said)
    assert output.read_bytes() == OLDER["model"]
    assert os.listdir(temporary) == []
    assert sorted(os.listdir(tmp_path)) == ["model.fewsight", "temporary"]


def what_a_script_prints(script: str) -> list[str]:
    """A script that presses Ctrl-C on itself with `press()`, as the command line hears it."""
    start = (
        "import os, signal, time\n"
        "from fewsight.apps.cli.signals import listen, stop_listening, undisturbed\n"
        "def press(): os.kill(os.getpid(), signal.SIGINT)\n"
        "listen()\n"
    )
    done = subprocess.run([sys.executable, "-c", start + script], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


def test_ctrl_c_that_somebody_swallows_comes_again() -> None:
    script = """
try:
    press()
except BaseException:
    print("swallowed")
try:
    time.sleep(30)
except KeyboardInterrupt:
    print("again")
stop_listening()
"""
    assert what_a_script_prints(script) == ["swallowed", "again"]


def test_pressing_again_does_not_stop_the_cleaning_up() -> None:
    script = """
try:
    try:
        press()
    finally:
        press()
        time.sleep(1.2)
        print("clean")
except KeyboardInterrupt:
    print("stopped")
stop_listening()
"""
    assert what_a_script_prints(script) == ["clean", "stopped"]


def test_imports_are_not_disturbed() -> None:
    script = """
try:
    with undisturbed():
        press()
        print("imported")
except KeyboardInterrupt:
    print("stopped")
stop_listening()
"""
    assert what_a_script_prints(script) == ["imported", "stopped"]


@pytest.mark.slow
def test_ctrl_c_while_predicting_leaves_no_table(model_file: Path, photos: Path, tmp_path: Path) -> None:
    script = (
        "import os, signal, fewsight.apps.workbench.predicting as p\n"
        "from fewsight.apps.cli import main\n"
        "p.BATCH = 5\n"
        "judge, batches = p.judge, []\n"
        "def interrupted(model, batch):\n"
        "    if len(batches) == 2: os.kill(os.getpid(), signal.SIGINT)\n"
        "    batches.append(batch)\n"
        "    return judge(model, batch)\n"
        "p.judge = interrupted\n"
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


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_no_file(model_file: Path, photos: Path, tmp_path: Path) -> None:
    script = (
        "import resource, fewsight.apps.workbench.predicting as p\n"
        "from fewsight.apps.cli import main\n"
        "judge = p.judge\n"
        "def limited(model, batch):\n"
        "    judged = judge(model, batch)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))\n"
        "    return judged\n"
        "p.judge = limited\n"
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
    assert finished.stderr.decode() == f"fewsight: {tmp_path / 'out' / 'table.csv'}: File too large.\n"
    assert list((tmp_path / "out").iterdir()) == []
