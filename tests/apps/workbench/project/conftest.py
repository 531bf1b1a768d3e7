"""What the tests of the project file share: a file, and other processes that write to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ANSWERS = """
import sys
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.events import Label
path, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with ProjectFile(path) as project:
    for number in range(count):
        project.append(who, "session", [Label(f"{number:040x}", "owl")], f"{who}-{number}")
        print(number, flush=True)
"""

Writer = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def writer() -> Iterator[Writer]:
    """Start a process that answers as a person and prints the number of each answer once it is acknowledged."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, who: str, count: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", ANSWERS, str(path), who, str(count)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()
