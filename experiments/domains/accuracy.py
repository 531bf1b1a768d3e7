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
from experiments.domains.summary import protocol_of, record_of, standard_error, write_results
from experiments.domains.tasks import DOMAINS, SIZES, Place, places_of
from fewsight._base.types import Array

OURS = "gp"
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


def records(cells: Cells, names: Sequence[str], places: Sequence[Place]) -> list[dict[str, object]]:
    """One record for each set, size, learner and metric."""
    rows: list[dict[str, object]] = []
    for (domain, size, even), group in groups_of(places).items():
        head = {"set": domain, "per_class": size, "even": even, "channels": "pretrained"}
        for name in names:
            for metric in cells[name, group[0]]:
                rows.append(record_of(head, name, metric, values(cells, name, group, metric)))
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


def calibration(cells: Cells, places: Sequence[Place]) -> list[dict[str, object]]:
    """For each size, the mean over sets of what probabilities are worth, with the sets where confidence is furthest off."""
    rows: list[dict[str, object]] = []
    groups = groups_of(places)
    for size, even in sorted({(size, even) for _, size, even in groups}, key=lambda each: (not each[1], each[0])):
        of_size = [group for (_, other, kind), group in groups.items() if (other, kind) == (size, even)]

        def mean(name: str, metric: str, chosen: Sequence[Sequence[Place]] = of_size) -> Array:
            return np.array([values(cells, name, group, metric).mean() for group in chosen])

        row: dict[str, object] = {"per_class": size, "even": even}
        for name in (OURS, "logistic"):
            for metric in ("accuracy", "log_loss", "calibration_error", "overconfidence"):
                row[f"{name}_{metric}"] = float(mean(name, metric).mean())
        row["gp_calibration_error_if_true"] = float(mean(OURS, "calibration_error_if_true").mean())
        row["gp_furthest_confidence"] = float(np.abs(mean(OURS, "overconfidence")).max())
        rows.append(row)
    return rows


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    bench = Bench(options.data, options.work)
    domains = [DOMAINS[name] for name in options.sets]
    measured, chosen = (places_of(domains, seeds, options.sizes) for seeds in (options.seeds, options.chosen_on))
    names = list(LEARNERS)
    bench.fill(LEARNERS, measured)
    bench.fill({name: LEARNERS[name] for name in PEERS}, chosen)
    cells = {(name, place): bench.cell(name, place) for name in names for place in measured}
    choice = {(name, place): bench.cell(name, place) for name in PEERS for place in chosen}
    gaps = differences(cells, OURS, choice, measured, chosen)
    found = verdict(gaps)
    calibrated = calibration(cells, measured)
    protocol = {**protocol_of(options, commit_of_tree()), "chosen_on_seeds": list(options.chosen_on), "verdict": found}
    rows = records(cells, names, measured)
    write_results(options.json, protocol, calibration=calibrated, records=rows, differences=gaps)
    for row in gaps:
        error = row["standard_error"] or 0.0
        kind = "even" if row["even"] else "uneven"
        print(
            f"{row['set']:12} {row['per_class']:3} {kind:6} {row['metric']:9} {row['mean']:+.4f} +- {error:.4f} ({row['peer']})"
        )
    for line in calibrated:
        print(
            ", ".join(
                f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}" for name, value in line.items()
            )
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
    found.add_argument(
        "--chosen-on", type=numbers, default=numbers("100-109"), help="seeds that choose the best peer (100-109)"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)
