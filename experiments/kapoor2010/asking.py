"""Ways of asking for labels, and learning curves: one way in one run is a curve. Curves are kept in the work folder.

Each lies under a hash of what it was made from. After a change of what a learner or a rule computes, remove the folder `curves`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.caltech4 import Caltech4, Drawn, draw_of
from experiments.common.cells import standard_error
from fewsight._base.archive import pack
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.active import ActiveLearner, GramPool, Margin, QueryRule, Random, Uncertainty, Variance, simulate
from fewsight.evaluation.provenance import settings_of
from fewsight.evaluation.results import json_text
from fewsight.images.hashing import hash_of
from fewsight.learners import GPClassifier, SVMClassifier

PAPER_NOISE = 1e-5  # [Kapoor2010, section 8]
NOISES: dict[str, float | str] = {"paper": PAPER_NOISE, "evidence": "evidence"}

Step = dict[str, Any]  # labels, accuracy, asked
Curve = list[Step]


@dataclass(frozen=True)
class Asking:
    """A learner and a rule. With mode "each", every round asks once about each one-vs-all problem."""

    learner: str
    rule: str
    mode: str = "none"  # overall, each, or none where a rule knows no problems
    noise: str = "none"  # a key of NOISES, or none for what has no noise

    @property
    def name(self) -> str:
        """For tables and figures."""
        return " ".join(part for part in (self.learner, self.rule, self.mode, self.noise) if part != "none")

    @property
    def batch_size(self) -> int | None:
        return None if self.mode == "each" else 1

    def make_rule(self) -> QueryRule:
        """The rule with its mode."""
        if self.rule in ("uncertainty", "margin"):
            return (Uncertainty if self.rule == "uncertainty" else Margin)(self.mode)
        return Variance() if self.rule == "variance" else Random()

    def make_learner(self) -> GPClassifier | SVMClassifier:
        """For Gram matrices."""
        if self.learner == "svm":
            return SVMClassifier("precomputed")
        return GPClassifier("precomputed", noise_variance=NOISES[self.noise], balanced=False, calibrated=False)

    def settings(self) -> dict[str, Any]:
        """All that decides what it finds."""
        return {**self.describe(), "estimator": settings_of(self.make_learner())}

    def describe(self) -> dict[str, str]:
        """What records say of it."""
        return {"learner": self.learner, "combine": "none", "rule": self.rule, "mode": self.mode, "noise": self.noise}

    def run(self, drawn: Drawn, pool: GramPool, seed: int, most: int) -> Curve:
        """From one label per class to `most` labels."""
        start = len(np.unique(drawn.labels))
        records = simulate(
            self.make_learner(),
            pool,
            drawn.labels,
            self.make_rule(),
            most - start,
            start=1,
            test=drawn.test.tolist() if len(drawn.test) else None,
            seeds=[seed],
            batch_size=self.batch_size,
        )
        return [{key: record[key] for key in ("labels", "accuracy", "asked")} for record in records]

    def replay(self, drawn: Drawn, pool: GramPool, curve: Curve) -> ActiveLearner:
        """The learner at the end of a curve: the same answers in the same order."""
        known: list[Any] = [None] * len(pool)
        for position in curve[0]["asked"]:
            known[position] = drawn.labels[position].item()
        active = ActiveLearner(
            self.make_learner(), self.make_rule(), explore=False, audit_share=0.0, batch_size=self.batch_size
        )
        active.fit(pool, known, exclude=drawn.test)
        for step in curve[1:]:
            active.teach(step["asked"], drawn.labels[step["asked"]])
        return active


def all_ways() -> list[Asking]:
    """What Fig. 10 compares, with both noises and both modes. [Kapoor2010, table 1]"""
    modes = [("uncertainty", "each"), ("uncertainty", "overall"), ("margin", "each"), ("margin", "overall")]
    rules = [*modes, ("variance", "none"), ("random", "none")]
    machines = [Asking("svm", rule, mode) for rule, mode in rules if rule in ("margin", "random")]
    return [Asking("gp", rule, mode, noise) for noise in NOISES for rule, mode in rules] + machines


@dataclass(frozen=True)
class Curves:
    """The curves of some ways in some runs."""

    store: Caltech4
    ways: Sequence[Asking]
    seeds: Sequence[int]
    most: int  # labels at the end

    def fill(self) -> dict[tuple[Asking, int], Curve]:
        """All curves, those computed that are not there yet; each draw is read once."""
        missing = [
            (seed, way)
            for seed in sorted(self.seeds)
            for way in self.ways
            if not self.path(way, seed).exists()
        ]  # fmt: skip
        self.store.make([draw_of(seed) for seed, _ in missing])
        loaded: tuple[int, Drawn, GramPool] | None = None
        for seed, way in track(missing, "asking", len(missing)):
            if loaded is None or loaded[0] != draw_of(seed):
                drawn = self.store.load(draw_of(seed))
                loaded = draw_of(seed), drawn, GramPool(drawn.K)
            with silent():
                curve = way.run(loaded[1], loaded[2], seed, self.most)
            self._write(self.path(way, seed), curve)
        return {(way, seed): json.loads(self.path(way, seed).read_text()) for way in self.ways for seed in self.seeds}

    def path(self, way: Asking, seed: int) -> Path:
        """The file of a curve."""
        digest = hash_of(self.store.digest.encode(), pack({**way.settings(), "most": self.most}))
        return self.store.work / "curves" / digest[:16] / f"seed{seed}.json"

    def _write(self, path: Path, curve: Curve) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text(curve))


Found = Mapping[tuple[Asking, int], Curve]


def at(found: Found, way: Asking, labels: int) -> Array:
    """Accuracy of a way after this many labels, run by run."""
    curves = [curve for (w, _), curve in found.items() if w == way]
    return np.array([step["accuracy"] for curve in curves for step in curve if step["labels"] == labels])


def label_counts(found: Found, every: int) -> list[int]:
    """Where all curves have a step, in steps of `every`."""
    sets = [{step["labels"] for step in curve} for curve in found.values()]
    shared = sorted(set.intersection(*sets))
    return [n for n in shared if n % every == 0]


def records(found: Found, channel: str, counts: Sequence[int]) -> list[dict[str, Any]]:
    """One record for each way and number of labels, in the shape of `fewsight evaluate --json`."""
    rows = []
    for way in dict.fromkeys(way for way, _ in found):
        for labels in counts:
            values = at(found, way, labels)
            head = {"channels": channel, **way.describe(), "labels": labels, "metric": "accuracy"}
            rows.append({**head, **summary(values), "values": values.round(6).tolist()})
    return rows


def summary(values: Array) -> dict[str, float]:
    """Mean, sample standard deviation and standard error."""
    std = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "std": std, "standard_error": standard_error(values)}


def difference(found: Found, ours: Asking, theirs: Asking, labels: int) -> dict[str, Any]:
    """How far one way is above another, run by run."""
    apart = at(found, ours, labels) - at(found, theirs, labels)
    head = {"ours": ours.name, "theirs": theirs.name, "labels": labels}
    return {**head, **summary(apart), "values": apart.round(6).tolist()}
