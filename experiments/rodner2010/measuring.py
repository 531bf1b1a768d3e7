"""Average precision of every way of learning, for all targets of one split and one number of examples: a cell.

Cells are kept in the work folder and not computed again. After a change of what a learner computes, remove the folder `cells`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.grams import Place
from experiments.rodner2010.choices import precision_of_choices
from experiments.rodner2010.grams import BACKGROUND, Pool
from experiments.rodner2010.tasks import Split, draw
from fewsight._base.archive import pack
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.evaluation.results import Summary, json_text
from fewsight.images.hashing import hash_of
from fewsight.transfer.wordnet import WordNet

# What the photographs show, where WordNet's likeliest sense is another.
SENSES = {"schooner": "vessel", "barrel": "container", "nautilus": "chambered nautilus", "garfield": "cat.n.01"}
CLOSEST = (1, 2, 3, 5, 10, 20, 50)  # categories that WordNet selects before left-out examples do
CLOSEST_OF_MORE = (3, 10)  # with more than one example

Cell = dict[str, dict[str, Any]]  # target -> way -> {"average_precision", "support", "rho"}


@dataclass(frozen=True, eq=False)
class Bench:
    """Measures cells. `kind` is learning (independent, with transfer, with WordNet) or criteria (see `choices.py`)."""

    pool: Pool
    kind: str = "learning"

    @cached_property
    def K(self) -> Array:
        return self.pool.load()

    @cached_property
    def closest(self) -> dict[str, list[str]]:
        """For each target all others, closest in meaning first."""
        names = [name for name in self.pool.images.classes if name != BACKGROUND]
        taxonomy = WordNet.open().taxonomy(names, {name: sense for name, sense in SENSES.items() if name in names})
        ordered = {name: taxonomy.closest(name, names, len(names)) for name in self.pool.targets}
        return {name: [other for other, _ in found] for name, found in ordered.items()}

    def fill(self, places: Sequence[Place]) -> dict[Place, Cell]:
        """All cells, those computed that are not there yet."""
        for place in track(places, f"splits ({self.kind})", len(places)):
            known = self._read(place)
            missing = [target for target in self.pool.targets if target not in known]
            if missing:
                with silent():
                    self._write(place, {**known, **self.measure(place, missing)})
        return {place: self._read(place) for place in places}

    def measure(self, place: Place, targets: Sequence[str]) -> Cell:
        """Some targets of one split."""
        ways = {"learning": self._learning, "criteria": self._criteria}[self.kind]
        splits = [draw(self.pool.labels, target, place.seed) for target in targets]
        return {split.target: ways(split, place.per_class) for split in splits}

    def _learning(self, split: Split, n: int) -> dict[str, Any]:
        closest = [name for name in self.closest[split.target] if name in split.supports]
        near = {f"transfer_wordnet_{k}": closest[:k] for k in (CLOSEST if n == 1 else CLOSEST_OF_MORE)}
        among = {"independent": [], "transfer": list(split.supports), **near}
        return {way: self._of(split, n, names) for way, names in among.items()}

    def _criteria(self, split: Split, n: int) -> dict[str, Any]:
        return {way: {"average_precision": value} for way, value in precision_of_choices(split, self.K, n).items()}

    def _of(self, split: Split, n: int, names: Sequence[str]) -> dict[str, Any]:
        if names:
            scores, support, rho = split.averaged(self.K, n, names)
            return {"average_precision": split.precision(scores), "support": support, "rho": rho}
        learner, rows = split.among(self.K, n, names)
        scores = learner.decision_function(self.K[np.ix_(split.test, rows)])
        return {"average_precision": split.precision(scores), "support": None, "rho": 0.0}

    def _path(self, place: Place) -> Path:
        content = {"pool": [self.pool.path(name).name for name in self.pool.channels], "kind": self.kind}
        return self.pool.work / "cells" / hash_of(pack(content))[:16] / f"{place.stem}.json"

    def _read(self, place: Place) -> Cell:
        """The targets of a cell that were measured before; after a change to one target, take it out of the file."""
        path = self._path(place)
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def _write(self, place: Place, cell: Cell) -> None:
        path = self._path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text(cell))


def precisions(cells: dict[Place, Cell], way: str, per_class: int, targets: Sequence[str]) -> Array:
    """Average precision (splits, targets)."""
    found = [cell for place, cell in cells.items() if place.per_class == per_class]
    return np.array([[cell[target][way]["average_precision"] for target in targets] for cell in found])


def record(channels: Sequence[str], way: str, per_class: int, values: Array, **more: Any) -> dict[str, Any]:
    """In the shape of `fewsight evaluate --json`; a value for each split."""
    summary = Summary.of(tuple(map(float, values)))
    learner = "gp" if way.startswith("independent") else "transfer_gp"
    combine = "none" if len(channels) == 1 else "average"
    head = {"channels": "+".join(channels), "learner": learner, "combine": combine, "method": way, **more}
    numbers = {"mean": summary.mean, "std": summary.std, "standard_error": summary.standard_error}
    return {**head, "per_class": per_class, "metric": "average_precision", **numbers, "values": list(summary.values)}
