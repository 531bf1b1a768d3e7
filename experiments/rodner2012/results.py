"""What the commands share: their options, cells that are kept in the work folder, and the file of results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree
from fewsight._base.archive import pack
from fewsight._base.replacement import write_text
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.images.hashing import hash_of

Cell = dict[str, Any]


def made_up_arguments(name: str, description: str | None, *, seeds: str) -> argparse.ArgumentParser:
    """The options of commands whose histograms are made up: no data folder is needed."""
    parser = base_arguments(name, description, folder="not needed: the histograms are made up", seeds=seeds, of="runs")
    parser.prog = f"python -m experiments.rodner2012.{name}"
    parser.set_defaults(data=Path(), sizes=(0,))
    return parser


def add_outputs(parser: argparse.ArgumentParser, name: str) -> None:
    """Where results and figure go."""
    results, figure = Path(f"experiments/results/rodner2012/{name}.json"), Path(f"docs/images/rodner2012_{name}.png")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    parser.add_argument("--figure", type=Path, default=figure, help=f"where the figure goes ({figure})")


def add_ways(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Which of the ways that a command knows to measure."""
    parser.add_argument(
        "--ways", type=lambda text: tuple(text.split(",")), default=tuple(names), help="joined by commas (all)"
    )


def kept(work: Path, name: str, settings: Mapping[str, Any], compute: Callable[[], Cell]) -> Cell:
    """What `compute` returns, from the work folder if it was computed there with the same settings before."""
    path = _place(work, name, settings)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text({"settings": dict(settings), "cell": compute()}))
    return dict(json.loads(path.read_text())["cell"])


def is_kept(work: Path, name: str, settings: Mapping[str, Any]) -> bool:
    """Whether the work folder has it."""
    return _place(work, name, settings).exists()


def _place(work: Path, name: str, settings: Mapping[str, Any]) -> Path:
    return work / "cells" / name / f"{hash_of(pack(dict(settings)))[:16]}.json"


def record(head: Mapping[str, Any], metric: str, values: Sequence[float]) -> dict[str, Any]:
    """In the shape of `fewsight evaluate --json`."""
    summary = Summary.of(tuple(float(value) for value in values))
    return {**head, "metric": metric, "mean": summary.mean, "std": summary.std, "values": list(summary.values)}


def paired(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """Mean difference with its standard error, run by run, and the p-value of a paired t-test."""
    from scipy.stats import ttest_rel

    apart = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else 0.0
    p = float(ttest_rel(ours, theirs).pvalue) if len(apart) > 1 and error > 0 else None
    return {"mean": float(apart.mean()), "standard_error": error, "p": p, "n": len(apart)}


def write_results(options: argparse.Namespace, records: list[dict[str, Any]], **more: Any) -> None:
    """The file of results, with what is needed to repeat it."""
    protocol = {
        "command": options.command,
        "commit": commit_of_tree(),
        "seeds": list(options.seeds),
        "fewsight": package_version(),
        "versions": versions(),
        **more.pop("protocol", {}),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text({"protocol": protocol, "records": records, **more}))
