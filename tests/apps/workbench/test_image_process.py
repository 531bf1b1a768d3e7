"""The process that prepares images ends with its input, at once, also while it is still starting."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "fewsight.apps.workbench.image_process"]


def test_it_ends_before_anything_large_is_imported() -> None:
    code = (
        "import sys, fewsight.apps.workbench.image_process\n"
        "print([name for name in ('numpy', 'PIL', 'sklearn') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_task_is_a_line_and_so_is_its_answer(tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("no image")
    setup = {"folder": str(tmp_path), "cache": str(tmp_path / "cache"), "max_bytes": 10**6, "channels": [], "seed": 0}
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line in (setup, {"path": b"text.jpg".hex(), "features": False}):
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        started = time.monotonic()
        process.stdin.close()
        assert process.wait(5) == 0
        assert time.monotonic() - started < 5
    assert (answer["hash"], answer["unreadable"]) == (None, "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)")
