"""Feeds damaged files to the readers of images, model files and cache entries: `python tests/hostile/fuzz_readers.py`.

Every input must end in pixels, a model that answers, or an error that a user can act on; in time, and in little memory. The
reading is done in a process of its own, so that a crash or a hang costs one input: it is saved, and the next one is
tried. An input depends on the seed and its number alone: `--first N --inputs 1` makes it again. Ends with 1 if
anything went wrong.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

MAX_FAILURES = 20
BUSY = 10  # a machine that others use as well may take so much longer than the processor time of an input


@dataclass
class Summary:
    """What became of the inputs of one target."""

    ends: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)  # seconds, number
    peak_bytes: int = 0

    def line(self, target: str) -> str:
        ends = ", ".join(f"{count:,} {word}" for word, count in self.ends.most_common())
        seconds, number = self.slowest
        return (
            f"{target}: {sum(self.ends.values()) + len(self.failures):,} inputs: {ends}; {len(self.failures)} failures; "
            f"slowest {seconds:.2f} s (input {number}); peak memory {self.peak_bytes / 2**20:,.0f} MB"
        )


def main() -> int:
    """Fuzz every target; the exit code."""
    options = _options()
    if options.child:
        read_all(options, options.target)
        return 0
    failed = False
    for target in options.target.split(","):
        summary = fuzz(options, target)
        print(summary.line(target))
        for failure in summary.failures:
            print(f"  {failure}")
        failed |= bool(summary.failures)
    return int(failed)


def fuzz(options: argparse.Namespace, target: str) -> Summary:
    """Let a process read all inputs; where it dies, save the input and let another one go on after it."""
    summary, number, end = Summary(), options.first, options.first + options.inputs
    while number < end and len(summary.failures) < MAX_FAILURES:
        with tempfile.TemporaryDirectory() as folder:
            records, code = _run_child(options, target, number, end, Path(folder))
        for record in records:
            _count(summary, record, options, target)
        number = 1 + max([number - 1, *(record["number"] for record in records)])
        if code != 0:
            summary.failures.append(f"{_save(options, target, number)}: the process ended with {code}")
            number += 1
    return summary


def read_all(options: argparse.Namespace, name: str) -> None:
    """In the process that reads: one line of JSON for each input."""
    from fuzz_targets import TARGETS

    target = TARGETS[name](Path(options.folder))
    warnings.simplefilter("error")
    stderr = os.dup(2)  # the reader of TIFF files makes the usual one quiet
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + options.megabytes * 2**20,) * 2)
    for number in range(options.first, options.first + options.inputs):
        content = target.make(np.random.default_rng([options.seed, number]))
        faulthandler.dump_traceback_later(BUSY * options.seconds, exit=True, file=stderr)
        start, fault = time.process_time(), None
        try:
            end = target.read(content)
        except Exception as error:  # this is what is looked for
            end, fault = "failed", f"{type(error).__name__}: {error}"[:300]
        faulthandler.cancel_dump_traceback_later()
        seconds = time.process_time() - start
        if fault is None and seconds > options.seconds:
            end, fault = "failed", f"took {seconds:.1f} s"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"number": number, "end": end, "fault": fault, "seconds": seconds, "peak": peak}), flush=True)


def _run_child(
    options: argparse.Namespace, target: str, first: int, end: int, folder: Path
) -> tuple[list[dict[str, Any]], int]:
    settings = {"seed": options.seed, "seconds": options.seconds, "megabytes": options.megabytes}
    arguments = [f"--{key}={value}" for key, value in settings.items()]
    numbers = [f"--first={first}", f"--inputs={end - first}", f"--target={target}", f"--folder={folder}"]
    child = [sys.executable, __file__, "--child", *arguments, *numbers]
    done = subprocess.run(child, stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.splitlines() if line.endswith(b"}")], done.returncode


def _count(summary: Summary, record: dict[str, Any], options: argparse.Namespace, target: str) -> None:
    summary.peak_bytes = max(summary.peak_bytes, record["peak"])
    summary.slowest = max(summary.slowest, (record["seconds"], record["number"]))
    if record["fault"] is None:
        summary.ends[record["end"]] += 1
    else:
        summary.failures.append(f"{_save(options, target, record['number'])}: {record['fault']}")


def _save(options: argparse.Namespace, target: str, number: int) -> Path:
    """Write an input where somebody can look at it."""
    from fuzz_targets import TARGETS

    path = Path(options.save) / f"{target}-{options.seed}-{number}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path.write_bytes(TARGETS[target](Path(folder)).make(np.random.default_rng([options.seed, number])))
    return path


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--target", default="images,models,cache,networks,tables", help="what to fuzz, joined by commas"
    )
    parser.add_argument("--inputs", type=int, default=10_000, help="of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=int, default=10, help="of processor time that an input may take")
    parser.add_argument("--megabytes", type=int, default=1024, help="of memory that reading may take")
    parser.add_argument("--save", default="fuzz-failures", help="folder for inputs that failed")
    parser.add_argument("--folder", default=".", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).parents[1]))  # for small_networks
    sys.exit(main())
