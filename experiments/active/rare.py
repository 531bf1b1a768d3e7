"""How many labels until a category that is 1 % of the pool is found, against questions at random?

    python -m experiments.active.rare DATA --work FOLDER

A run thins out one category, drawn by its seed, until it is 1 % of the pool, and begins with one label of each other category.
It ends when the rare one is found. Asking, with its random checks, is to need at most half of the labels that random needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import Known, Source
from experiments.active.runs import Experiment, Run, answer, fitted, new_learner, record
from experiments.common.command import run

SHARE = 0.01
SETTINGS = {"share": SHARE, "start_per_class": 1, "asked": 0.5}


def thinned(known: Known, rare: Any, rng: np.random.Generator) -> Known:
    """With so few of one category that it is 1 % of all."""
    others, own = np.flatnonzero(known.truth != rare), np.flatnonzero(known.truth == rare)
    n_rare = max(1, round(len(others) * SHARE / (1 - SHARE)))
    return known.part(np.sort(np.concatenate([others, rng.permutation(own)[:n_rare]])))


def one(where: Source, seed: int) -> Run:
    """Answers until the category is found, by each rule."""
    rng = np.random.default_rng(seed)
    known = where.part(len(where.whole.truth), rng)
    rare = rng.choice(np.unique(known.truth))
    known = thinned(known, rare, rng)
    first = {label: int(rng.choice(np.flatnonzero(known.truth == label))) for label in np.unique(known.truth)}
    labels = [
        label.item() if first[label] == place and label != rare else None for place, label in enumerate(known.truth)
    ]
    return {rule: _needed(known, rare, labels, rule, seed) for rule in ("uncertainty", "random")}


def _needed(known: Known, rare: Any, labels: list[Any], rule: str, seed: int) -> int:
    active = fitted(new_learner(seed, rule), known.K, labels=labels)
    asked = 0
    while rare not in active.view_.classes:
        answer(active, known.truth)
        asked += 1
    return asked


def describe(where: Source, found: list[Run]) -> list[dict[str, Any]]:
    """Labels needed by both, and the ratio of their means."""
    needed = {rule: [float(one_run[rule]) for one_run in found] for rule in ("uncertainty", "random")}
    rows = [{**record(where, "labels_needed", values), "rule": rule} for rule, values in needed.items()]
    ratio = float(np.mean(needed["uncertainty"]) / np.mean(needed["random"]))
    return [*rows, record(where, "share_of_random", [ratio])]


EXPERIMENT = Experiment("rare", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    return runs.parser("rare", __doc__)


if __name__ == "__main__":
    run(parser(), work)
