"""What the benchmarks share: fair timing of two routes in one run, and the JSON that records it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any


def arguments(description: str) -> argparse.ArgumentParser:
    """The options every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the records to this file")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute")
    return parser


def side_by_side(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int, before: Callable[[], Any] | None = None
) -> tuple[float, float]:
    """Median seconds of both, run in turns so that a slow moment of the machine hits both; `before` each, untimed."""
    pairs = [(_seconds(ours, before), _seconds(theirs, before)) for _ in range(repeats)]
    return median(first for first, _ in pairs), median(second for _, second in pairs)


def record(name: str, ours_seconds: float, theirs_seconds: float, peer: str, **more: Any) -> dict[str, Any]:
    """One line of the result; ratio above 1 means that we are faster."""
    ratio = theirs_seconds / ours_seconds
    print(f"{name}: {ours_seconds * 1e3:.2f} ms, {ratio:.2f} times the speed of {peer} ({theirs_seconds * 1e3:.2f} ms)")
    return {
        "name": name,
        "ours_seconds": ours_seconds,
        "theirs_seconds": theirs_seconds,
        "peer": peer,
        "ratio": ratio,
        **more,
    }


def write(records: list[dict[str, Any]], path: Path | None) -> None:
    """Write the records where --json asked for them."""
    if path is not None:
        path.write_text(json.dumps({"records": records}, indent=2) + "\n")


def _seconds(work: Callable[[], Any], before: Callable[[], Any] | None = None) -> float:
    if before is not None:
        before()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
