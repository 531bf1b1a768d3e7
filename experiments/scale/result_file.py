"""What the result files of this folder say beside their records: what is needed to repeat them."""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shlex
import sys
from pathlib import Path
from typing import Any

from experiments.common.command import check_repeatable, commit_of_tree
from fewsight import __version__
from fewsight._base.replacement import write_text
from fewsight.evaluation.results import json_text


def parser(description: str, default: str) -> argparse.ArgumentParser:
    """With the option that all have: where to write."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", type=Path, default=Path("experiments/results/scale") / default)
    return made


def checked(options: argparse.Namespace) -> argparse.Namespace:
    """Before any work is done: a result of this repository comes from a commit."""
    check_repeatable(options)
    return options


def write(path: Path, protocol: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Records with the command, the commit and the machine."""
    about = {
        "command": shlex.join(["python", *(_without_folder(word) for word in sys.orig_argv[1:])]),
        "commit": commit_of_tree(),
        "fewsight": __version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json_text({"protocol": {**protocol, **about}, "records": records}))


def _without_folder(word: str) -> str:
    """No folder of the machine that it ran on, or above the one that it ran in."""
    return Path(word).name if os.path.isabs(word) or word.startswith(os.pardir) else word


def peak_gigabytes() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
