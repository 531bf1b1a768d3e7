"""What is measured: one way of learning at one place is a cell. Cells are kept in the work folder and not computed again.

Each lies under a hash of the settings of its channels and its learner. After a change of what a learner computes, remove the
folder `cells`: the Gram matrices stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from experiments.common.grams import Grams, GramStore, Place
from fewsight._base.archive import pack, write_text
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.evaluation.provenance import settings_of
from fewsight.evaluation.results import Summary, json_text
from fewsight.images.hashing import hash_of
from fewsight.metrics import accuracy_per_class, calibration_error, log_loss

Cell = dict[str, float]  # metrics by name


@dataclass(frozen=True, eq=False)
class Way:
    """A learner on the Gram matrices of some channels. `describe` is what records say of it beside the channels."""

    learner: Any  # unfitted, for a list of Gram matrices, or one where `average`
    channels: tuple[str, ...]
    describe: Mapping[str, str]  # learner, combine and what else tells it from others
    average: bool = False  # whether it learns from the mean of the Gram matrices, each scaled to a mean diagonal of 1
    one_thread: bool = False  # so that times can be compared with what cannot use several

    def settings(self) -> dict[str, Any]:
        """All that decides what it finds."""
        return {**self.describe, "estimator": settings_of(self.learner), "average": self.average}

    def measure(self, grams: Grams) -> Cell:
        """Learn from the training images, predict the test images."""
        train, test = ([part[name] for name in self.channels] for part in (grams.train, grams.test))
        if self.average:
            train, test = _averages(train, test)
        with threadpool_limits(1 if self.one_thread else None):
            start = perf_counter()
            learner = clone(self.learner).fit(train, grams.labels)
            seconds_fit = perf_counter() - start
            predicted = learner.predict(test)
        cell = {"accuracy": accuracy_per_class(grams.test_labels, predicted), "seconds_fit": seconds_fit}
        if hasattr(learner, "predict_proba"):
            stated = grams.test_labels, learner.predict_proba(test), tuple(learner.classes_.tolist())
            cell |= {"log_loss": log_loss(*stated), "calibration_error": calibration_error(*stated)}
        return cell | self._found(learner)

    def _found(self, learner: Any) -> Cell:
        """What the learner says about itself, where it does."""
        cell = {}
        if hasattr(learner, "n_evaluations_"):
            cell["evaluations"] = float(learner.n_evaluations_)
        if hasattr(learner, "n_machines_"):
            cell |= {"machines": float(learner.n_machines_), "classes_converged": float(learner.n_converged_)}
        weights = np.asarray(getattr(learner, "weights_", []))
        if weights.shape == (len(self.channels),) and len(self.channels) > 1:
            shares = weights / weights.sum()
            cell |= {f"weight_{name}": float(share) for name, share in zip(self.channels, shares, strict=True)}
        return cell


@dataclass(frozen=True)
class Table:
    """The cells of some ways at some places."""

    store: GramStore
    ways: Sequence[Way]
    places: Sequence[Place]

    def fill(self) -> dict[tuple[Way, Place], Cell]:
        """All cells, those computed that are not there yet. Equal places come one after another: their files are read once."""
        keys = [(place, position) for place in self.places for position in range(len(self.ways))]
        missing = [(place, position) for place, position in keys if not self._path(self.ways[position], place).exists()]
        self.store.make(sorted({place for place, _ in missing}))
        loaded: tuple[Place, Grams] | None = None
        for place, position in track(missing, "learning", len(missing)):
            if loaded is None or loaded[0] != place:
                loaded = (place, self.store.load(place))
            with silent():
                cell = self.ways[position].measure(loaded[1])
            self._write(self.ways[position], place, cell)
        return {(self.ways[position], place): self._read(self.ways[position], place) for place, position in keys}

    def _path(self, way: Way, place: Place) -> Path:
        settings = {**way.settings(), "home": self.store.home(place)._asdict()}
        digest = hash_of(*(self.store.digests[name].encode() for name in way.channels), pack(settings))
        return self.store.work / "cells" / digest[:16] / f"{place.stem}.json"

    def _write(self, way: Way, place: Place, cell: Cell) -> None:
        path = self._path(way, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text(cell))

    def _read(self, way: Way, place: Place) -> Cell:
        return dict(json.loads(self._path(way, place).read_text()))


Cells = Mapping[tuple[Way, Place], Cell]


def values_of(cells: Cells, way: Way, per_class: int, metric: str) -> Array:
    """Seed by seed, in the order of the cells."""
    return np.array([cell[metric] for (w, place), cell in cells.items() if w is way and place.per_class == per_class])


def records(cells: Cells) -> list[dict[str, Any]]:
    """One record for each way, size and metric, in the shape of `fewsight evaluate --json`."""
    rows = []
    for way in dict.fromkeys(way for way, _ in cells):
        for per_class in sorted({place.per_class for w, place in cells if w is way}):
            found = [cell for (w, place), cell in cells.items() if w is way and place.per_class == per_class]
            for metric in (name for name in found[0] if all(name in cell for cell in found)):
                summary = Summary.of(tuple(cell[metric] for cell in found))
                head = {"channels": "+".join(way.channels), **way.describe, "per_class": per_class, "metric": metric}
                rows.append({**head, "mean": summary.mean, "std": summary.std, "values": list(summary.values)})
    return rows


def standard_error(differences: Array) -> float:
    """Of a mean over splits; none for one split."""
    return float(np.std(differences, ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 0.0


def _averages(train: list[Array], test: list[Array]) -> tuple[list[Array], list[Array]]:
    scales = [K.diagonal().mean() for K in train]
    return tuple([np.mean([K / s for K, s in zip(part, scales, strict=True)], axis=0)] for part in (train, test))
