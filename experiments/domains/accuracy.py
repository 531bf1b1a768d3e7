"""Accuracy and probabilities on pictures of many domains: fewsight against what people fit to a network's vectors.

    python -m experiments.domains.accuracy DATA --work FOLDER

DATA holds `more`, `caltech101` and `brodatz`. All learners get the same vectors of `pretrained`. Choices are made on seeds
100-109, figures are those of seeds 0-9; `--chosen-on` names the seeds on which the best peer of a cell is chosen. Vectors and
answers are kept in the work folder: a command that was stopped goes on where it was. What peers say does not depend on
fewsight: `--peers-from FILE` takes them from the results of an earlier run, as far as they hold the sets that are asked for;
peers that the file does not know are computed, and compared with the best one that it does.
`--peers` names fewer of them: support vector machines on 101 categories take hours.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from scipy.stats import wilcoxon

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.cells import Bench, Cell
from experiments.domains.peers import LEARNERS, PEERS, Learner
from experiments.domains.summary import line_of, protocol_of, record_of, standard_error, write_results
from experiments.domains.tasks import BENCH, DOMAINS, SIZES, Place, places_of
from fewsight._base.errors import InvalidInput
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
        found.setdefault(group_of(place), []).append(place)
    return found


def group_of(place: Place) -> Group:
    """The place without its seed."""
    return place.domain, place.per_class, place.even


def values(cells: Cells, name: str, places: Sequence[Place], metric: str) -> Array:
    """Of one learner, seed by seed."""
    return np.array([cells[name, place][metric] for place in places])


def records(cells: Cells, names: Sequence[str], places: Sequence[Place]) -> list[dict[str, object]]:
    """One record for each set, size, learner and metric."""
    rows: list[dict[str, object]] = []
    for (domain, size, even), group in groups_of(places).items():
        head = {"set": domain, "per_class": size, "even": even, "channels": "pretrained"}
        for name in (name for name in names if (name, group[0]) in cells):
            for metric in cells[name, group[0]]:
                rows.append(record_of(head, name, metric, values(cells, name, group, metric)))
    return rows


def best_peers(choice: Cells, chosen: Sequence[Place], peers: Sequence[str] = PEERS) -> dict[Group, str]:
    """The most accurate peer of each set and size, on seeds that are not those of the figures."""
    best = {}
    for group, places in groups_of(chosen).items():
        means = {peer: float(values(choice, peer, places, "accuracy").mean()) for peer in peers}
        best[group] = max(peers, key=means.__getitem__)
    return best


def kept_peers(
    path: Path, places: Sequence[Place], seeds: Sequence[int]
) -> tuple[dict[tuple[str, Place], Cell], dict[Group, str]]:
    """What peers said in an earlier run on some of the same places, and which was the best of each set and size then."""
    kept = json.loads(path.read_text())
    if kept["protocol"]["seeds"] != list(seeds):
        raise InvalidInput(
            f"--peers-from: the seeds of {path.name} must be {list(seeds)}, got {kept['protocol']['seeds']}."
        )
    groups = groups_of(places)
    cells: dict[tuple[str, Place], Cell] = {}
    for row in kept["records"]:
        group = groups.get((row["set"], row["per_class"], row["even"]), []) if row["learner"] in PEERS else []
        for place, value in zip(group, row["values"] if group else [], strict=True):
            cells.setdefault((row["learner"], place), {})[row["metric"]] = value
    best = {
        (row["set"], row["per_class"], row["even"]): row["peer"]
        for row in kept["differences"]
        if row["metric"] == "accuracy"
    }
    return cells, best


def judge_added(bench: Bench, best: dict[Group, str], added: Mapping[str, Learner], chosen: Sequence[Place]) -> None:
    """Let peers that an earlier run did not know take the place of the best one that it knew, where they are more accurate."""
    for group, places in groups_of([place for place in chosen if group_of(place) in best]).items():
        rivals = {best[group]: LEARNERS[best[group]], **added}
        bench.fill(rivals, places)
        best |= best_peers(
            {(name, place): bench.cell(name, place) for name in rivals for place in places}, places, [*rivals]
        )


def differences(cells: Cells, ours: str, best: Mapping[Group, str], places: Sequence[Place]) -> list[Difference]:
    """Ours minus the most accurate peer, and ours minus logistic regression in log loss; the peer was chosen on other seeds."""
    rows: list[Difference] = []
    for (domain, size, even), group in groups_of(places).items():
        for metric, peer in (("accuracy", best[domain, size, even]), ("log_loss", "logistic")):
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
    """In how many cells both are within two standard errors, the worst gaps, and Wilcoxon's test of the log loss.

    Cells of a set share images, so the test over cells says more than is known; that over sets takes the mean of each.
    """
    signs = {"accuracy": -1.0, "log_loss": 1.0}  # so that more is worse
    worse = [(row, signs[row["metric"]] * row["mean"]) for row in rows]
    within: dict[Group, bool] = {}
    for row, gap in worse:
        key = row["set"], row["per_class"], row["even"]
        within[key] = within.get(key, True) and gap <= 2 * (row["standard_error"] or 0.0) + 1e-12
    by_set: dict[str, list[float]] = {}
    for row in rows:
        if row["metric"] == "log_loss":
            by_set.setdefault(row["set"], []).append(row["mean"])
    losses = [loss for some in by_set.values() for loss in some]
    return {
        "cells": len(within),
        "within_two_standard_errors": float(np.mean(list(within.values()))),
        "worst_accuracy": -max(gap for row, gap in worse if row["metric"] == "accuracy"),
        "worst_log_loss": max(gap for row, gap in worse if row["metric"] == "log_loss"),
        "mean_log_loss_difference": float(np.mean(losses)),
        "p_log_loss": _p_value(losses),
        "p_log_loss_over_sets": _p_value([float(np.mean(some)) for some in by_set.values()]),
    }


def _p_value(values: Sequence[float]) -> float:
    return float(wilcoxon(values).pvalue) if len(values) > 5 else 1.0


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
    names, kept, peers = list(LEARNERS), options.peers_from, {name: LEARNERS[name] for name in options.peers}
    if "logistic" not in peers:
        raise InvalidInput(f"--peers: logistic must be one of them, got {', '.join(peers)}.")
    cells, best = ({}, {}) if kept is None else kept_peers(kept, measured, options.seeds)
    known = {name for name, _ in cells}
    added = {name: peer for name, peer in peers.items() if known and name not in known}
    earlier = [place for place in measured if group_of(place) in best]
    bench.fill(added, earlier)
    cells |= {(name, place): bench.cell(name, place) for name in added for place in earlier}
    judge_added(bench, best, added, chosen)
    new, judged = ([place for place in places if group_of(place) not in best] for places in (measured, chosen))
    bench.fill({OURS: LEARNERS[OURS]}, measured)
    bench.fill(peers, [*new, *judged])
    best |= best_peers({(name, place): bench.cell(name, place) for name in peers for place in judged}, judged, [*peers])
    cells |= {(name, place): bench.cell(name, place) for name in peers for place in new}
    cells |= {(OURS, place): bench.cell(OURS, place) for place in measured}
    gaps = differences(cells, OURS, best, measured)
    found = verdict(gaps)
    calibrated = calibration(cells, measured)
    protocol = {**protocol_of(options, commit_of_tree()), "chosen_on_seeds": list(options.chosen_on), "verdict": found}
    protocol |= {"peers": list(peers)}
    protocol |= {} if kept is None else {"peers_of_commit": json.loads(kept.read_text())["protocol"]["commit"]}
    rows = records(cells, names, measured)
    write_results(options.json, protocol, calibration=calibrated, records=rows, differences=gaps)
    for row in gaps:
        error = row["standard_error"] or 0.0
        kind = "even" if row["even"] else "uneven"
        print(
            f"{row['set']:12} {row['per_class']:3} {kind:6} {row['metric']:9} {row['mean']:+.4f} +- {error:.4f} ({row['peer']})"
        )
    for line in calibrated:
        print(line_of(line))
    print(", ".join(f"{name} {value:.4g}" for name, value in found.items()))


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("accuracy", __doc__, folder=folder, seeds="0-9", of="draws", paper="domains")
    results = Path("experiments/results/domains/accuracy.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    sets = f"joined by commas, of {','.join(DOMAINS)} (the first {len(BENCH)})"
    found.add_argument("--sets", type=words_of(DOMAINS), default=tuple(BENCH), help=sets)
    found.add_argument("--sizes", type=numbers, default=SIZES, help="labels per category (1,2,5,15,50)")
    found.add_argument(
        "--chosen-on", type=numbers, default=numbers("100-109"), help="seeds that choose the best peer (100-109)"
    )
    found.add_argument(
        "--peers", type=words_of(PEERS), default=PEERS, help=f"where they are not taken from a file ({','.join(PEERS)})"
    )
    found.add_argument("--peers-from", type=Path, help="results of an earlier run to take the peers from")
    return found


if __name__ == "__main__":
    run(parser(), work)
