"""Learning curves over labels: fewsight, with labels it asks for and with random ones, against baselines on the same features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fewsight._base.types import Array
from fewsight.evaluation.curves import labels_until
from fewsight.evaluation.results import Summary

RANDOM = "random"
MEASURED = ("accuracy", "log_loss", "calibration_error", "unknown_auroc")


class Arm(NamedTuple):
    """A learner, and how its labels are chosen: by a query rule, or at random."""

    learner: str
    rule: str


@dataclass(frozen=True)
class Comparison:
    """What was measured after so many labels: for each arm and metric (repeats, points)."""

    labels: tuple[int, ...]  # (points,), ascending
    curves: Mapping[Arm, Mapping[str, Array]]
    channels: str  # joined by `+`
    combine: str  # of the learner that asks; baselines average
    n_pool: int  # images that could be labelled
    n_tested: int
    n_held_out: int  # categories that nobody learned

    @property
    def metrics(self) -> list[str]:
        """Those that were measured, in the order of the records."""
        return [name for name in MEASURED if all(name in found for found in self.curves.values())]

    @property
    def asking(self) -> Arm:
        """The arm that asks."""
        return next(arm for arm in self.curves if arm.rule != RANDOM)

    @property
    def baselines(self) -> list[Arm]:
        """All that is not fewsight."""
        return [arm for arm in self.curves if arm.learner != self.asking.learner]

    @property
    def strongest(self) -> Arm:
        """The baseline that is most accurate with all labels."""
        return max(self.baselines, key=lambda arm: self.curves[arm]["accuracy"][:, -1].mean())

    @property
    def target(self) -> float:
        """The accuracy of the strongest baseline with all labels."""
        return float(self.curves[self.strongest]["accuracy"][:, -1].mean())

    @property
    def needed(self) -> int | None:
        """The labels after which the arm that asks stays at the target or above; None if it never does."""
        return labels_until(self.target, self.labels, self.curves[self.asking]["accuracy"].mean(axis=0))

    def curve(self, arm: Arm, metric: str) -> list[tuple[int, Summary]]:
        """The number of labels, and what was measured over the repeats."""
        columns = self.curves[arm][metric].T.tolist()
        return [(labels, Summary.of(tuple(column))) for labels, column in zip(self.labels, columns, strict=True)]

    def records(self) -> list[dict[str, Any]]:
        """One record for each arm, metric and number of labels."""
        return [
            {
                "channels": self.channels,
                "learner": arm.learner,
                "combine": self._combine_of(arm),
                "rule": arm.rule,
                "labels": labels,
                "metric": metric,
                "mean": found.mean,
                "std": found.std,
                "values": list(found.values),
            }
            for arm in self.curves
            for metric in self.metrics
            for labels, found in self.curve(arm, metric)
        ]

    def _combine_of(self, arm: Arm) -> str:
        return "average" if self.combine == "evidence" and arm in self.baselines else self.combine
