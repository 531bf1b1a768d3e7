"""Machine code is kept where it can be, and where it cannot, the loops answer all the same."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fewsight

SOURCE = Path(fewsight.__file__).parent
PROGRAM = """
import numpy as np
from fewsight._compiled.cholesky_update import remove  # which calls another loop
print(remove(np.asfortranarray(np.eye(3)), np.array([1])).shape, sum(remove.stats.cache_hits.values()))
"""


def run(source: Path, prepare: Callable[[], None] | None = None, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, preexec_fn=prepare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.slow
def test_machine_code_is_kept_for_the_next_run(tmp_path: Path) -> None:
    said = [run(SOURCE.parent, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert said == ["(2, 2) 0", "(2, 2) 1"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits on files are of Unix")
def test_a_full_disk_costs_time_not_the_answer(tmp_path: Path) -> None:
    def no_file_above_a_few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))

    assert run(SOURCE.parent, no_file_above_a_few_bytes, NUMBA_CACHE_DIR=str(tmp_path)) == "(2, 2) 0"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_no_place_for_machine_code_costs_time_not_the_answer(tmp_path: Path) -> None:
    package = tmp_path / "fewsight"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    nowhere = package / "_compiled" / "__pycache__"
    nowhere.write_bytes(b"")  # a file where folders would have to be: closed even to an administrator
    places = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"), str(nowhere / "x"))
    assert run(tmp_path, **places) == "(2, 2) 0"
