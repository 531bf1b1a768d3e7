"""Who decides which image a person is asked about next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final

from fewsight.apps.workbench.project.events import Act, Asked, Event
from fewsight.apps.workbench.project.present import Present
from fewsight.images.hashing import hash_of


@dataclass(frozen=True)
class Put:
    """An image that a person is asked about, and why this one."""

    image: str
    rule: str
    reason: str
    check: bool = False  # drawn at random, to know how good the decisions are
    n_drawn_from: int | None = None
    n_labelled: int | None = None


class Asker(Protocol):
    """Who decides which image comes next."""

    def put(self, ready: Sequence[str], present: Present) -> Put | None:
        """One of the images that may be asked about; None if there is none."""

    def asked(self, image: str, present: Present) -> Asked | None:
        """How an answer about this image comes about, and what is believed about it now."""

    def told(self, events: Sequence[Event], present: Present) -> Sequence[Act]:
        """Something was said; what the project should note about it."""


@final
class RandomAsker:
    """Images in a random order that depends on the seed and on their content alone, for the time before anything is learned."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def put(self, ready: Sequence[str], present: Present) -> Put | None:
        if not ready:
            return None
        chosen = min(ready, key=lambda image: hash_of(str(self.seed).encode(), image.encode()))
        return Put(chosen, "random", "Nothing is learned yet, so any image will do.")

    def asked(self, image: str, present: Present) -> Asked | None:
        return None

    def told(self, events: Sequence[Event], present: Present) -> Sequence[Act]:
        return ()
