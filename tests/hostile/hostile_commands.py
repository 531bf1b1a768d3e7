"""The command line as a process of its own, watched: what it said, how it ended, the memory it took."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import fewsight

# Little to compute: what is tested is not how well it learns.
SMALL = tuple(
    part
    for setting in ("n_words=10", "n_descriptors=500", "scales=[1.0]", "step=16")
    for part in ("--set", f"spatial_pmk.{setting}")
)

_DROP_FROM_BOUNDING_SET = 24  # prctl
_READ_EVERYTHING = (1, 2)  # the capabilities that let the administrator open closed files and folders


@dataclass(frozen=True)
class Finished:
    """How a command ended; `said` are its lines on stderr without the program's name."""

    code: int
    out: str
    err: str
    peak_bytes: int

    @property
    def said(self) -> list[str]:
        return [line.removeprefix("fewsight: ") for line in self.err.splitlines()]


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "fewsight.apps.cli", *map(str, arguments)]


def environment(cache: Path, **variables: str) -> dict[str, str]:
    """Finds the same fewsight as this process, keeps features in `cache`, and buffers its output as usual."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    source = str(Path(fewsight.__file__).parents[1])
    return {**inherited, "PYTHONPATH": source, "FEWSIGHT_CACHE": str(cache), **variables}


def run(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    prepare: Callable[[], None] | None = None,
    stdout: Path | None = None,
    disturb: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> Finished:
    """Run to the end. `prepare` runs in the new process, `disturb` beside it; output goes to files, so nothing waits."""
    with _file(stdout) as out, _file(None) as err:
        process = subprocess.Popen(arguments, env=dict(env), stdout=out, stderr=err, preexec_fn=prepare)
        if disturb is not None:
            disturb(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        unit = 1 if sys.platform == "darwin" else 1024
        texts = ["", _text(err)] if stdout else [_text(out), _text(err)]
        return Finished(process.returncode, texts[0], texts[1], usage.ru_maxrss * unit)


def obey_file_modes() -> None:
    """In a new process of the administrator: closed files are closed to it, as to anybody else."""
    if os.geteuid() == 0:
        system = ctypes.CDLL(None)
        for capability in _READ_EVERYTHING:
            system.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


def modes_count() -> bool:
    """Whether `obey_file_modes` works here."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        script = "import os, sys; sys.exit(os.access(sys.argv[1], os.R_OK))"
        return subprocess.run([sys.executable, "-c", script, file.name], preexec_fn=obey_file_modes).returncode == 0


def interrupt_when(happened: Callable[[], bool], times: int = 1) -> Callable[[subprocess.Popen[bytes]], None]:
    """Presses Ctrl-C, several times, as soon as something is there to see."""

    def disturb(process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + 60
        while not happened() and _runs(process) and time.monotonic() < end:
            time.sleep(0.005)
        for _ in range(times):
            if _runs(process):
                os.kill(process.pid, signal.SIGINT)
            time.sleep(0.03)

    return disturb


def interrupt_after(seconds: float, times: int = 1) -> Callable[[subprocess.Popen[bytes]], None]:
    """Presses Ctrl-C, several times, after a while."""
    end = time.monotonic() + seconds
    return interrupt_when(lambda: time.monotonic() >= end, times)


def _runs(process: subprocess.Popen[bytes]) -> bool:
    """Looks without reaping, which would lose the account of its memory."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _file(path: Path | None) -> IO[bytes]:
    return tempfile.TemporaryFile() if path is None else path.open("r+b")


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "surrogateescape")
