"""What holds in a project, as a page needs it: worked out once for each event, and never changed afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from fewsight.apps.workbench.project.present import Present, Standing


@final
@dataclass(frozen=True)
class Facts:
    """Standings of all images that somebody said something about, and what follows from them."""

    standings: Mapping[str, Standing] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)  # names by id
    images_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # labelled images of each category
    kinds: Counter[str] = field(default_factory=Counter)  # of answers: label, none, discard
    skipped: Mapping[str, int] = field(default_factory=dict)  # that cool down, and for how long
    can_undo: bool = False
    can_redo: bool = False

    @classmethod
    def of(cls, present: Present, who: str | None) -> Facts:
        """What can be undone is this person's."""
        standings = present.standings()
        choices = {image: standing.choice for image, standing in standings.items() if standing.choice is not None}
        images: dict[str, list[str]] = {}
        for image, choice in choices.items():
            if choice.category is not None:
                images.setdefault(choice.category, []).append(image)
        return cls(
            standings,
            present.categories,
            {key: tuple(each) for key, each in images.items()},
            Counter(choice.kind for choice in choices.values()),
            present.skipped(),
            who is not None and present.last_done(who) is not None,
            who is not None and present.last_undone(who) is not None,
        )

    @property
    def n_labelled(self) -> int:
        return self.kinds["label"]

    @property
    def counts(self) -> dict[str, int]:
        """Labels of each category that has some."""
        return {key: len(images) for key, images in self.images_of.items()}

    def is_discarded(self, image: str) -> bool:
        standing = self.standings.get(image)
        return standing is not None and standing.choice is not None and standing.choice.kind == "discard"
