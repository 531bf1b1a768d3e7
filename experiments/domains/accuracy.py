"""Accuracy and probabilities on pictures of many domains: fewsight against what people fit to a network's vectors.

    python -m experiments.domains.accuracy DATA --work FOLDER

DATA holds `more`, `caltech101` and `brodatz`. All learners get the same vectors of `pretrained`. Choices are made on seeds
100-109, figures are those of seeds 0-9; `--chosen-on` names the seeds on which the best peer of a cell is chosen. Vectors and
answers are kept in the work folder: a command that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from scipy.stats import wilcoxon

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words
from experiments.domains.cells import Bench, Cell
from experiments.domains.peers import LEARNERS, PEERS
from experiments.domains.proposal import proposed
from experiments.domains.tasks import DOMAINS, SIZES, Place, places_of
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text

ALL = {**LEARNERS, "proposed": proposed}
Cells = Mapping[tuple[str, Place], Cell]
Group = tuple[str, int, bool]  # set, labels per category, even


class Difference(TypedDict):
    """One learner minus another, seed by seed."""

    set: str
    per_class: int
    even: bool
    metric: str
    learner: str
    peer: str
    mean: float
    standard_error: float | None


def groups_of(places: Sequence[Place]) -> dict[Group, list[Place]]:
    """Places that differ in their seed alone."""
    found: dict[Group, list[Place]] = {}
    for place in places:
        found.setdefault((place.domain, place.per_class, place.even), []).append(place)
    return found


def values(cells: Cells, name: str, places: Sequence[Place], metric: str) -> Array:
    """Of one learner, seed by seed."""
    return np.array([cells[name, place][metric] for place in places])


def standard_error(numbers_: Array) -> float | None:
    """Of the mean; None for one number."""
    return float(numbers_.std(ddof=1) / len(numbers_) ** 0.5) if len(numbers_) > 1 else None


def records(cells: Cells, names: Sequence[str], places: Sequence[Place]) -> list[dict[str, object]]:
    """One record for each set, size, learner and metric."""
    rows: list[dict[str, object]] = []
    for (domain, size, even), group in groups_of(places).items():
        head = {"set": domain, "per_class": size, "even": even, "channels": "pretrained"}
        for name in names:
            for metric in cells[name, group[0]]:
                found = values(cells, name, group, metric)
                summary = {"mean": float(found.mean()), "standard_error": standard_error(found)}
                rows.append({**head, "learner": name, "metric": metric, **summary, "values": found.tolist()})
    return rows


def differences(
    cells: Cells, ours: str, choice: Cells, places: Sequence[Place], chosen: Sequence[Place]
) -> list[Difference]:
    """Ours minus the most accurate peer, and ours minus logistic regression in log loss; the peer is chosen on other seeds."""
    rows: list[Difference] = []
    judged = groups_of(chosen)
    for (domain, size, even), group in groups_of(places).items():
        best = max(PEERS, key=lambda peer: values(choice, peer, judged[domain, size, even], "accuracy").mean())
        for metric, peer in (("accuracy", best), ("log_loss", "logistic")):
            gap = values(cells, ours, group, metric) - values(cells, peer, group, metric)
            rows.append(
                Difference(
                    set=domain,
                    per_class=size,
                    even=even,
                    metric=metric,
                    learner=ours,
                    peer=peer,
                    mean=float(gap.mean()),
                    standard_error=standard_error(gap),
                )
            )
    return rows


def verdict(rows: Sequence[Difference]) -> dict[str, float]:
    """In how many cells both are within two standard errors, the worst gaps, and a test over cells of the log loss."""
    signs = {"accuracy": -1.0, "log_loss": 1.0}  # so that more is worse
    worse = [(row, signs[row["metric"]] * row["mean"]) for row in rows]
    within: dict[Group, bool] = {}
    for row, gap in worse:
        key = row["set"], row["per_class"], row["even"]
        within[key] = within.get(key, True) and gap <= 2 * (row["standard_error"] or 0.0) + 1e-12
    losses = [row["mean"] for row in rows if row["metric"] == "log_loss"]
    return {
        "cells": len(within),
        "within_two_standard_errors": float(np.mean(list(within.values()))),
        "worst_accuracy": -max(gap for row, gap in worse if row["metric"] == "accuracy"),
        "worst_log_loss": max(gap for row, gap in worse if row["metric"] == "log_loss"),
        "mean_log_loss_difference": float(np.mean(losses)),
        "p_log_loss": float(wilcoxon(losses).pvalue) if len(losses) > 5 else 1.0,
    }


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    bench = Bench(options.data, options.work)
    domains = [DOMAINS[name] for name in options.sets]
    measured, chosen = (places_of(domains, seeds, options.sizes) for seeds in (options.seeds, options.chosen_on))
    names = list(dict.fromkeys([*options.learners, options.ours, *PEERS]))
    bench.fill({name: ALL[name] for name in names}, measured)
    bench.fill({name: ALL[name] for name in PEERS}, chosen)
    cells = {(name, place): bench.cell(name, place) for name in names for place in measured}
    choice = {(name, place): bench.cell(name, place) for name in PEERS for place in chosen}
    gaps = differences(cells, options.ours, choice, measured, chosen)
    found = verdict(gaps)
    protocol = {
        "seeds": list(options.seeds),
        "chosen_on_seeds": list(options.chosen_on),
        "per_class": list(options.sizes),
        "command": options.command,
        "commit": commit_of_tree(),
        "fewsight": package_version(),
        "versions": versions(),
    }
    rows = records(cells, names, measured)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text({"protocol": protocol, "verdict": found, "records": rows, "differences": gaps}))
    for row in gaps:
        error = row["standard_error"] or 0.0
        kind = "even" if row["even"] else "uneven"
        print(
            f"{row['set']:12} {row['per_class']:3} {kind:6} {row['metric']:9} {row['mean']:+.4f} +- {error:.4f} ({row['peer']})"
        )
    print(", ".join(f"{name} {value:.4g}" for name, value in found.items()))


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("accuracy", __doc__, folder=folder, seeds="0-9", of="draws", paper="domains")
    results = Path("experiments/results/domains/accuracy.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument("--sets", type=words, default=tuple(DOMAINS), help=f"joined by commas ({','.join(DOMAINS)})")
    found.add_argument("--sizes", type=numbers, default=SIZES, help="labels per category (1,2,5,15,50)")
    found.add_argument("--ours", default="gp", choices=list(ALL), help="what is compared with the peers (gp)")
    found.add_argument("--learners", type=words, default=("gp", "proposed"), help="measured as well (gp,proposed)")
    found.add_argument(
        "--chosen-on", type=numbers, default=numbers("100-109"), help="seeds that choose the best peer (100-109)"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)
