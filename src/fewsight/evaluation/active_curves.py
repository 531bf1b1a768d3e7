"""Whether asking pays: labels that a rule asks for against labels picked at random, from the same starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.active import Pool, QueryRule, simulate
from fewsight.active.rules import as_rule
from fewsight.evaluation.results import Summary, labels_until
from fewsight.learners import Learner
from fewsight.learners.labels import LabelsLike

Verdict = Literal["better", "alike", "worse"]
RANDOM = "random"
CLEAR = 2.0  # standard errors: a smaller gain may be chance


@dataclass(frozen=True)
class ActiveCurves:
    """Accuracy after every label, for a rule and for labels picked at random: (starts, points) each, from the same starts."""

    rule: str
    labels: tuple[int, ...]  # (points,), ascending
    asked: Array
    random: Array
    n_pool: int  # images that could be asked about
    n_tested: int

    @property
    def curves(self) -> Mapping[str, list[tuple[int, Summary]]]:
        """For the rule and for random: the number of labels and the accuracy over the starts."""
        return {name: self._curve(values) for name, values in ((self.rule, self.asked), (RANDOM, self.random))}

    @cached_property
    def gain(self) -> Summary:
        """What asking gains, on average over the whole curve, start by start."""
        return Summary.of(tuple((self.asked - self.random).mean(axis=1).tolist()))

    @property
    def target(self) -> float:
        """The accuracy that both reach in the end, in whole per cent."""
        lower = min(self.asked[:, -1].mean(), self.random[:, -1].mean())
        return math.floor(100 * lower + 1e-9) / 100

    @property
    def needed(self) -> tuple[int, int]:
        """The labels after which the mean accuracy stays at the target: asked for, and picked at random."""
        return self._labels_until_target(self.asked), self._labels_until_target(self.random)

    @property
    def verdict(self) -> Verdict:
        """Better or worse where the gain is clear and the labels needed say the same."""
        asked, random = self.needed
        clear = abs(self.gain.mean) > CLEAR * (self.gain.standard_error or 0.0)
        if clear and self.gain.mean > 0 and asked < random:
            return "better"
        return "worse" if clear and self.gain.mean < 0 and asked > random else "alike"

    def records(self) -> list[dict[str, Any]]:
        """One record per rule and number of labels."""
        return [
            {"rule": rule, "labels": labels, "metric": "accuracy", "mean": found.mean, "std": found.std}
            | {"values": list(found.values)}
            for rule, curve in self.curves.items()
            for labels, found in curve
        ]

    def _curve(self, values: Array) -> list[tuple[int, Summary]]:
        pairs = zip(self.labels, values.T.tolist(), strict=True)
        return [(labels, Summary.of(tuple(column))) for labels, column in pairs]

    def _labels_until_target(self, values: Array) -> int:
        found = labels_until(self.target, self.labels, values.mean(axis=0))
        return self.labels[-1] if found is None else found


def compare_asking(
    learner: Learner,
    pool: Pool,
    truth: LabelsLike,
    test: Sequence[int],
    *,
    rule: str | QueryRule = "uncertainty",
    n_queries: int = 100,
    start: int = 1,
    seeds: Sequence[int] = range(10),
) -> ActiveCurves:
    """Simulate the rule and random picks: `start` labels of each class are known, and drawn anew for every seed.

    Accuracy is the mean over the classes, on the positions in `test`, which are never asked about. See `fewsight.simulate`.
    """
    chosen = as_rule("compare_asking", rule)
    if chosen.name == RANDOM or not len(seeds):
        got = "random picks" if len(seeds) else "no seed"
        raise InvalidInput(f"compare_asking: a rule other than random, and at least one seed, are needed, got {got}.")
    runs = [
        simulate(learner, pool, truth, which, n_queries, start=start, test=test, seeds=seeds)
        for which in (chosen, RANDOM)
    ]
    labels = tuple(sorted({record["labels"] for record in runs[0]}))
    asked, random = (np.array([each["accuracy"] for each in run]).reshape(len(seeds), len(labels)) for run in runs)
    return ActiveCurves(chosen.name, labels, asked, random, len(pool) - len(test), len(test))
