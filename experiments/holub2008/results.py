"""What the later tables share: draws of tasks that are kept one by one, and the file of results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import silent, track

METHODS = ("generative", "shape", "appearance", "hybrid", "combined")
Draws = dict[str, list[dict[str, Any]]]  # what was found in each draw, by task


def add_results(parser: argparse.ArgumentParser, name: str) -> None:
    """Where the results go."""
    results = Path(f"experiments/results/holub2008/{name}.json")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")


def each_draw(
    options: argparse.Namespace,
    name: str,
    tasks: Sequence[str],
    named: Mapping[str, Any],
    compute: Callable[[str, int], dict[str, Any]],
) -> Draws:
    """Every task in every draw; what is in the work folder is not computed again."""
    found: Draws = {}
    for task in track(tasks, "tasks", len(tasks)):
        found[task] = []
        for seed in options.seeds:
            with silent():
                settings = {"task": task, "seed": seed, **named}
                found[task].append(kept(options.work, name, settings, lambda t=task, s=seed: compute(t, s)))
        shown = {way: [cell[way] for cell in found[task]] for way in found[task][0] if _is_number(found[task][0][way])}
        for way, values in shown.items():
            print(f"{task:24} {way:24} {100 * sum(values) / len(values):.1f}", flush=True)
    return found


def write_cells(
    options: argparse.Namespace,
    draws: Draws,
    *,
    method: str,
    detector: str,
    protocol: Mapping[str, Any],
    metric: str = "accuracy",
    clutter: bool = True,
) -> None:
    """A record for each task and way; what is no number stands beside them, draw by draw.

    A way whose first word is itself a method is recorded under that one.
    """
    records, details = [], {}
    for task, cells in draws.items():
        head = {"method": method, "category": task, "detector": detector, "clutter": clutter, "control": "none"}
        for way, first in cells[0].items():
            if _is_number(first):
                own = way.split(",")[0]
                named = {**head, "method": own if own in METHODS else method, "way": way}
                records.append(record(named, metric, [cell[way] for cell in cells]))
            else:
                details[f"{task} {way}"] = [cell[way] for cell in cells]
    write_results(options, records, protocol=dict(protocol), **({"details": details} if details else {}))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))
