"""What every file of results of the bench holds: records with means and standard errors, and how they came about."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text


def standard_error(values: Array) -> float | None:
    """Of the mean; None for one number."""
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else None


def paired(differences: Array) -> dict[str, float | None]:
    """The mean of differences, seed by seed, and its standard error."""
    return {"mean": float(differences.mean()), "standard_error": standard_error(differences)}


def record_of(head: Mapping[str, object], learner: str, metric: str, values: Array) -> dict[str, object]:
    """One record; `head` says which set and how many labels."""
    return {**head, "learner": learner, "metric": metric, **paired(values), "values": values.tolist()}


def protocol_of(options: argparse.Namespace, commit: object) -> dict[str, object]:
    """Seeds, sizes and the command, with what it ran on."""
    return {
        "seeds": list(options.seeds),
        "per_class": list(options.sizes),
        "command": options.command,
        "commit": commit,
        "fewsight": package_version(),
        "versions": versions(),
    }


def write_results(path: Path, protocol: Mapping[str, object], **parts: Sequence[Mapping[str, object]]) -> None:
    """The whole file at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json_text({"protocol": dict(protocol), **parts}))


def line_of(row: Mapping[str, object]) -> str:
    """A row of a table as it is printed."""
    return ", ".join(
        f"{name} {each:.3f}" if isinstance(each, float) else f"{name} {each}" for name, each in row.items()
    )


def mean_over(rows: Sequence[Mapping[str, object]], learner: str, metric: str) -> float:
    """The mean over sets of what records say about one learner."""
    found = [row["mean"] for row in rows if (row["learner"], row["metric"]) == (learner, metric)]
    return float(np.mean(np.array(found, dtype=np.float64)))
