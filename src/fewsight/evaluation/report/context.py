"""What every section of the report draws on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fewsight._base.errors import InvalidInput
from fewsight.evaluation.outcomes import Outcome, Setting
from fewsight.evaluation.report.pictures import Thumbnails
from fewsight.evaluation.results import Evaluation, Summary
from fewsight.images import ImageSet


@dataclass(frozen=True)
class Material:
    """An evaluation together with the images it was made on."""

    evaluation: Evaluation
    image_set: ImageSet

    def __post_init__(self) -> None:
        if len(self.image_set.images) != len(self.evaluation.names):
            raise InvalidInput(
                f"write_report: image_set must be the set that was evaluated, of {len(self.evaluation.names)} images, "
                f"got one of {len(self.image_set.images)}."
            )

    @cached_property
    def thumbnails(self) -> Thumbnails:
        """Small versions of the images."""
        return Thumbnails(self.image_set)

    @property
    def summaries(self) -> dict[Setting, dict[str, Summary]]:
        return self.evaluation.summaries

    @property
    def sizes(self) -> list[int]:
        """The numbers of examples per class, ascending."""
        return sorted({setting.per_class for setting in self.summaries})

    @property
    def rows(self) -> list[Setting]:
        """The settings without regard to the number of examples, which is 0 here."""
        return list(dict.fromkeys(setting._replace(per_class=0) for setting in self.summaries))

    @property
    def largest(self) -> dict[Setting, dict[str, Summary]]:
        """The settings with the most examples per class."""
        return {setting: found for setting, found in self.summaries.items() if setting.per_class == self.sizes[-1]}

    @property
    def best(self) -> Setting:
        """The most accurate of `largest`: the sections on single categories speak of it."""
        return self.evaluation.best

    @property
    def most_honest(self) -> Setting:
        """The one of `largest` whose probabilities fit best; the most accurate where nobody states any."""
        stated = {setting: found["log_loss"].mean for setting, found in self.largest.items() if "log_loss" in found}
        return min(stated, key=lambda setting: stated[setting]) if stated else self.best

    def outcomes(self, setting: Setting) -> list[Outcome]:
        """What came out of a setting, repeat by repeat."""
        return self.evaluation.groups[setting]

    @cached_property
    def learned(self) -> tuple[str, ...]:
        """The categories that were learned in one repeat at least."""
        learned = {label for outcome in self.outcomes(self.best) for label in outcome.classes}
        return tuple(label for label in self.evaluation.classes if label in learned)

    @cached_property
    def training_images(self) -> dict[Any, list[int]]:
        """The training images of each learned category with the most examples, in the first repeat that learned it."""
        members: dict[Any, list[int]] = {}
        for outcome in self.outcomes(self.best):
            new: dict[Any, list[int]] = {}
            for index in outcome.train:
                new.setdefault(self.image_set.labels[index], []).append(int(index))
            members = new | members
        return members
