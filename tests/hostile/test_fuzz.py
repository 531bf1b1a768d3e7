"""A small run of the fuzzing script: `python tests/hostile/fuzz_readers.py` is the large one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_commands import environment

SCRIPT = Path(__file__).with_name("fuzz_readers.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "inputs"), [("images", 1000), ("models", 300), ("cache", 200), ("networks", 300), ("tables", 500)]
)
def test_damaged_files_end_in_a_result_or_in_words(target: str, inputs: int, cache: Path, tmp_path: Path) -> None:
    arguments = ["--target", target, "--inputs", str(inputs), "--seed", "1", "--save", str(tmp_path / "failures")]
    done = subprocess.run([sys.executable, SCRIPT, *arguments], env=environment(cache), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}: {inputs:,} inputs: " in done.stdout
    assert "; 0 failures; " in done.stdout
