"""What one learner said about the test images of one draw, and how good that was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Indices
from fewsight.metrics import accuracy_per_class, calibration_error, log_loss, mean_roc_auc

LabelArray = npt.NDArray[np.object_]
QUALITIES = ("accuracy", "log_loss", "calibration_error", "roc_auc")
STAGES = ("seconds_features", "seconds_gram", "seconds_fit", "seconds_predict")
METRICS = (*QUALITIES, *STAGES)  # in the order of the records


class Setting(NamedTuple):
    """What is compared: a row of the results. `channels` joins several names by `+`."""

    channels: str
    learner: str
    combine: str
    per_class: int


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
        return values | dict(self.seconds)
