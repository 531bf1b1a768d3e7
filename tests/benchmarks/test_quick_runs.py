"""Every benchmark runs, and writes records that a reader of its JSON can use."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
NEEDS_IMAGES = {"bench_page": ["--start"]}  # the part of it that makes its own


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(FOLDER.glob("bench_*.py")), ids=lambda path: path.stem)
def test_a_quick_run_writes_its_records(script: Path, tmp_path: Path) -> None:
    if script.stem == "bench_page" and shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    found = tmp_path / "records.json"
    alone = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, str(script), "--quick", "--json", str(found), *NEEDS_IMAGES.get(script.stem, [])]
    done = subprocess.run(command, capture_output=True, text=True, env=alone, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    records = json.loads(found.read_text())["records"]
    assert records
    for record in records:
        assert record["name"]
        numbers = [value for value in record.values() if isinstance(value, (int, float))]
        assert numbers
        assert all(math.isfinite(number) for number in numbers)
