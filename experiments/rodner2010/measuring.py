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
from experiments.rodner2010.grams import BACKGROUND, Pool
from experiments.rodner2010.tasks import Split, draw
from fewsight._base.archive import pack, write_text
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.evaluation.results import Summary, json_text
from fewsight.images.hashing import hash_of
from fewsight.transfer import CRITERIA, Ranking
from fewsight.transfer.wordnet import WordNet

# What the photographs show, where WordNet's likeliest sense is another.
SENSES = {"schooner": "vessel", "barrel": "container", "nautilus": "chambered nautilus", "garfield": "cat.n.01"}
CLOSEST = (1, 2, 3, 5, 10, 20, 50)  # categories that WordNet selects before left-out examples do
SEVERAL = 3  # support tasks at once
DEFAULT = "average_precision"

Cell = dict[str, dict[str, Any]]  # target -> way -> {"average_precision", "support", "rho"}


@dataclass(frozen=True, eq=False)
class Bench:
    """Measures cells. `kind` is learning (independent, with transfer, with WordNet), criteria or several (supports)."""

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
        missing = [place for place in places if not self._path(place).exists()]
        for place in track(missing, f"splits ({self.kind})", len(missing)):
            with silent():
                self._write(place, self.measure(place))
        return {place: json.loads(self._path(place).read_text()) for place in places}

    def measure(self, place: Place) -> Cell:
        """All targets of one split."""
        ways = {"learning": self._learning, "criteria": self._criteria, "several": self._several}[self.kind]
        splits = [draw(self.pool.labels, target, place.seed) for target in self.pool.targets]
        return {split.target: ways(split, place.per_class) for split in splits}

    def _learning(self, split: Split, n: int) -> dict[str, Any]:
        names = list(split.supports)
        ranking, _ = split.candidates(self.K, n).rank(DEFAULT)
        near = {f"transfer_wordnet_{k}": self.closest[split.target][:k] for k in CLOSEST}
        best = {way: _best(ranking, names, among) for way, among in {"transfer": names, **near}.items()}
        different = {choice: self._of(split, n, *choice) for choice in {(None, 0.0), *best.values()}}
        return {"independent": different[None, 0.0], **{way: different[choice] for way, choice in best.items()}}

    def _several(self, split: Split, n: int) -> dict[str, Any]:
        names = list(split.supports)
        ranking, _ = split.candidates(self.K, n).rank(DEFAULT)
        several = [names[i] for i in ranking.order()[:SEVERAL]]
        return {f"transfer_{SEVERAL}_supports": {"average_precision": split.with_several(self.K, n, several)}}

    def _criteria(self, split: Split, n: int) -> dict[str, Any]:
        names, candidates = list(split.supports), split.candidates(self.K, n)
        found = {"independent": self._of(split, n, None, 0.0)}
        for criterion in CRITERIA:
            ranking, _ = candidates.rank(criterion)
            found[criterion] = self._of(split, n, *_best(ranking, names, names))
        return found

    def _of(self, split: Split, n: int, support: str | None, rho: float) -> dict[str, Any]:
        learner, rows = split.learned(self.K, n, support if rho > 0 else None, rho=rho)
        scores = learner.decision_function(self.K[np.ix_(split.test, rows)])
        return {"average_precision": split.precision(scores), "support": support if rho > 0 else None, "rho": rho}

    def _path(self, place: Place) -> Path:
        content = {"pool": [self.pool.path(name).name for name in self.pool.channels], "kind": self.kind}
        return self.pool.work / "cells" / hash_of(pack(content))[:16] / f"{place.stem}.json"

    def _write(self, place: Place, cell: Cell) -> None:
        path = self._path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text(cell))


def _best(ranking: Ranking, names: list[str], among: Sequence[str]) -> tuple[str, float]:
    """The best support task among some, and its correlation."""
    best = int(ranking.order(np.array([names.index(name) for name in among]))[0])
    return names[best], float(ranking.rho[best])


def precisions(cells: dict[Place, Cell], way: str, per_class: int, targets: Sequence[str]) -> Array:
    """Average precision (splits, targets)."""
    found = [cell for place, cell in cells.items() if place.per_class == per_class]
    return np.array([[cell[target][way]["average_precision"] for target in targets] for cell in found])


def record(channels: Sequence[str], way: str, per_class: int, values: Array, **more: Any) -> dict[str, Any]:
    """In the shape of `fewsight evaluate --json`; a value for each split."""
    summary = Summary.of(tuple(map(float, values)))
    learner = "gp" if way == "independent" else "transfer_gp"
    combine = "none" if len(channels) == 1 else "average"
    head = {"channels": "+".join(channels), "learner": learner, "combine": combine, "method": way, **more}
    numbers = {"mean": summary.mean, "std": summary.std, "standard_error": summary.standard_error}
    return {**head, "per_class": per_class, "metric": "average_precision", **numbers, "values": list(summary.values)}
