"""The results of an evaluation: records for machines, a table for terminals."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fewsight._base.errors import UnreadableImage
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.evaluation.outcomes import METRICS, STAGES, WEIGHT, Outcome, Setting
from fewsight.evaluation.protocol import Protocol
from fewsight.evaluation.provenance import package_version, versions

ROUNDING = 1e-12  # of an accuracy


@dataclass(frozen=True)
class Summary:
    """One metric of one setting over the repeats; `std` is the sample standard deviation, None for one repeat."""

    mean: float
    std: float | None
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: tuple[float, ...]) -> Summary:
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), std, values)

    @property
    def standard_error(self) -> float | None:
        """Of the mean; None for one repeat."""
        return None if self.std is None else self.std / math.sqrt(len(self.values))


@dataclass(frozen=True)
class Evaluation:
    """All that an evaluation found. Indices in the outcomes count `names`: the images of the set that was given.

    Parameters
    ----------
    protocol : how images were drawn.
    classes : all categories that took part, learned or held out.
    names : of the images of the set that was given.
    outcomes : what came of each learner, channel and draw.
    unreadable : images that took no part, and why.
    channels : the settings of each channel, by name.
    learners : the settings of each learner, by name.
    combine : the ways in which channels were combined.
    timings : seconds of the whole run, by stage.
    """

    protocol: Protocol
    classes: tuple[str, ...]  # all that took part, learned or held out
    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    unreadable: tuple[UnreadableImage, ...]
    channels: Mapping[str, dict[str, Any]]  # the settings of each
    learners: Mapping[str, dict[str, Any]]
    combine: tuple[str, ...]
    timings: Mapping[str, float]  # seconds of the whole run, by stage

    @cached_property
    def groups(self) -> dict[Setting, list[Outcome]]:
        """The outcomes of each setting, in the order of the repeats."""
        groups: dict[Setting, list[Outcome]] = {}
        for outcome in self.outcomes:
            groups.setdefault(outcome.setting, []).append(outcome)
        return dict(sorted(groups.items(), key=lambda item: self._rank(item[0])))

    @cached_property
    def summaries(self) -> dict[Setting, dict[str, Summary]]:
        """Every metric of every setting over the repeats."""
        return {setting: _summaries(outcomes) for setting, outcomes in self.groups.items()}

    @property
    def n_learned(self) -> int:
        """How many classes are learned in a repeat."""
        return len(self.classes) - self.protocol.hold_out

    @property
    def held_out(self) -> list[list[str]]:
        """The classes that were not learned, repeat by repeat; nothing where none were held out."""
        if not self.protocol.hold_out:
            return []
        learned = {outcome.repeat: set(outcome.classes) for outcome in self.outcomes}
        return [[name for name in self.classes if name not in learned[repeat]] for repeat in sorted(learned)]

    @property
    def best(self) -> Setting:
        """The most accurate setting among those with the most examples per class; the first of equals."""
        most = max(setting.per_class for setting in self.groups)
        rows = [setting for setting in self.groups if setting.per_class == most]
        return max(rows, key=lambda setting: self.summaries[setting]["accuracy"].mean)

    def records(self) -> list[dict[str, Any]]:
        """One record per setting and metric."""
        return [
            {
                **setting._asdict(),
                "metric": metric,
                "mean": summary.mean,
                "std": summary.std,
                "values": list(summary.values),
            }
            for setting, summaries in self.summaries.items()
            for metric, summary in summaries.items()
        ]

    def as_json(
        self, *, command: str | None = None, commit: str | None = None, **more: Sequence[dict[str, Any]] | None
    ) -> dict[str, Any]:
        """The protocol with all that is needed to repeat it, and the records. The caller knows command and commit, and
        gives the records on asking for labels (`ActiveCurves.records`) and on baselines (`Comparison.records`), if any.

        Parameters
        ----------
        command : the command that made it, if any.
        commit : the commit of the code, if known.
        more : further lists of records, by name.
        """
        found = {"protocol": self.settings(command=command, commit=commit), "records": self.records()}
        return found | {name: list(records) for name, records in more.items() if records is not None}

    def settings(self, *, command: str | None = None, commit: str | None = None) -> dict[str, Any]:
        """The `protocol` part of the results.

        Parameters
        ----------
        command : the command that made it, if any.
        commit : the commit of the code, if known.
        """
        return {
            **self.protocol.settings(),
            "command": command,
            "commit": commit,
            "classes": list(self.classes),
            "held_out": self.held_out,
            "n_images": len(self.names),
            "channels": dict(self.channels),
            "learners": dict(self.learners),
            "combine": list(self.combine),
            "unreadable": [{"name": error.name, "reason": error.reason} for error in self.unreadable],
            "seconds": dict(self.timings),
            "fewsight": package_version(),
            "versions": versions(),
        }

    def write_json(
        self,
        path: str | Path,
        *,
        command: str | None = None,
        commit: str | None = None,
        **more: Sequence[dict[str, Any]] | None,
    ) -> None:
        """Write `as_json` to a file, whole or not at all.

        Parameters
        ----------
        path : the file to write.
        command : the command that made it, if any.
        commit : the commit of the code, if known.
        more : further lists of records, by name.
        """
        write_text(Path(path), json_text(self.as_json(command=command, commit=commit, **more)))

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text for a terminal, headings first."""
        headings = (
            "channels",
            "learner",
            "combine",
            "per class",
            "accuracy",
            "log loss",
            "calibration error",
            "seconds",
        )
        return [headings, *(self._row(setting) for setting in self.summaries)]

    def _row(self, setting: Setting) -> tuple[str, ...]:
        found = self.summaries[setting]
        seconds = sum(found[stage].mean for stage in STAGES if stage in found)
        return (
            setting.channels,
            setting.learner,
            setting.combine,
            str(setting.per_class),
            percent(found["accuracy"]),
            _decimals(found.get("log_loss"), 3),
            _decimals(found.get("calibration_error"), 3),
            f"{seconds:.2f}",
        )

    def _rank(self, setting: Setting) -> tuple[int, int, int]:
        """Few examples first; then as the outcomes came, which is as the caller listed channels and learners."""
        columns = list(dict.fromkeys((o.setting.channels, o.setting.combine) for o in self.outcomes))
        return (
            setting.per_class,
            columns.index((setting.channels, setting.combine)),
            list(self.learners).index(setting.learner),
        )


def percent(summary: Summary) -> str:
    """A share as people read it: `52.3 ± 1.1 %`, or `52.3 %` for one repeat."""
    spread = "" if summary.std is None else f" ± {100 * summary.std:.1f}"
    return f"{100 * summary.mean:.1f}{spread} %"


def learned_shares(evaluation: Evaluation) -> dict[Setting, dict[str, Summary]]:
    """The share of each channel over the repeats, the largest mean first, for each setting that learned them.

    Settings with one example per class are left out: nothing can be learned from them, and all channels count the same.
    """
    found = {
        setting: {name.removeprefix(WEIGHT): value for name, value in summaries.items() if name.startswith(WEIGHT)}
        for setting, summaries in evaluation.summaries.items()
        if setting.per_class > 1
    }
    return {
        setting: dict(sorted(shares.items(), key=lambda item: -item[1].mean))
        for setting, shares in found.items()
        if shares
    }


def labels_until(target: float, labels: Sequence[int], curve: Array) -> int | None:
    """The number of labels after which a curve over labels stays at the target or above; None if it ends below."""
    below = np.flatnonzero(curve < target - ROUNDING)
    place = below[-1] + 1 if len(below) else 0
    return labels[place] if place < len(labels) else None


def json_text(content: dict[str, Any]) -> str:
    """JSON in UTF-8, whatever bytes a file name holds: what is not a character is kept as an escape."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _summaries(outcomes: list[Outcome]) -> dict[str, Summary]:
    """A metric counts where every repeat has it."""
    found = [outcome.metrics for outcome in outcomes]
    weights = [name for name in found[0] if name.startswith(WEIGHT)]
    shared = [
        name for name in (*METRICS, *weights) if all(name in values and math.isfinite(values[name]) for values in found)
    ]
    return {name: Summary.of(tuple(values[name] for values in found)) for name in shared}


def _decimals(summary: Summary | None, digits: int) -> str:
    return "" if summary is None else f"{summary.mean:.{digits}f}"
