"""What one learner said about the test images of one draw, and how good that was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.metrics import accuracy_per_class, calibration_error, log_loss, mean_roc_auc, roc_auc

LabelArray = npt.NDArray[np.object_]
QUALITIES = ("accuracy", "log_loss", "calibration_error", "roc_auc")
NOVELTIES = ("unknown_auroc", "false_alarm_rate", "found_rate")
STAGES = ("seconds_features", "seconds_gram", "seconds_fit", "seconds_predict")
WEIGHT = "weight_"  # before the name of a channel: its share in a combination that was learned
METRICS = (*QUALITIES, *NOVELTIES, *STAGES)  # in the order of the records


class Setting(NamedTuple):
    """What is compared: a row of the results. `channels` joins several names by `+`."""

    channels: str
    learner: str
    combine: str
    per_class: int


@dataclass(frozen=True)
class Strangeness:
    """How little m test images, and after them u of held-out classes, are like anything that was learned."""

    scores: Array  # (m + u,), higher for stranger images
    called_unknown: npt.NDArray[np.bool_]  # (m + u,)
    threshold: float  # images above it are called unknown; infinite: none ever is


def _no_images() -> Indices:
    return np.empty(0, dtype=np.intp)


def _no_labels() -> LabelArray:
    return np.empty(0, dtype=object)


@dataclass(frozen=True)
class Outcome:
    """The answers of one learner in one repeat. Indices count the images of the set that was evaluated."""

    setting: Setting
    repeat: int
    train: Indices
    test: Indices
    truth: LabelArray  # (m,) of the test images
    predicted: LabelArray  # (m,)
    classes: tuple[Any, ...]  # of the columns of `probabilities`
    probabilities: npt.NDArray[np.float32] | None  # (m, c); None where the learner gives none
    seconds: Mapping[str, float]  # by STAGES
    held_out: Indices = field(default_factory=_no_images)  # (u,) test images of classes that were not learned
    taken_for: LabelArray = field(default_factory=_no_labels)  # (u,)
    strangeness: Strangeness | None = None  # None where the learner does not say
    weights: Mapping[str, float] = field(default_factory=dict)  # share of each channel, where it was learned

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Every metric that is defined here, by name."""
        values = {"accuracy": accuracy_per_class(self.truth, self.predicted)}
        if self.probabilities is not None:
            arguments = (self.truth, self.probabilities, self.classes)
            values["log_loss"] = log_loss(*arguments)
            values["calibration_error"] = calibration_error(*arguments)
            if len(set(self.truth)) > 1:
                values["roc_auc"] = mean_roc_auc(*arguments)
        shares = {f"{WEIGHT}{channel}": share for channel, share in self.weights.items()}
        return values | self._novelties() | shares | dict(self.seconds)

    def _novelties(self) -> dict[str, float]:
        """Whether images of classes that were not learned are told from the others."""
        if self.strangeness is None:
            return {}
        m = len(self.test)
        called = self.strangeness.called_unknown
        values = {"false_alarm_rate": float(called[:m].mean())}
        if len(self.held_out):
            strange = np.arange(len(called)) >= m
            values["unknown_auroc"] = roc_auc(strange, self.strangeness.scores)
            values["found_rate"] = float(called[m:].mean())
        return values
