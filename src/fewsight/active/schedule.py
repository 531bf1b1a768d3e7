"""Whose turn it is: what was skipped, and which questions are random checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Indices
from fewsight.active.history import Act, Check
from fewsight.active.views.base import Answer


@final
@dataclass
class Schedule:
    """Everything about questions that is not in the view: what the acts that are on make of it.

    Attributes
    ----------
    cool_down : turns for which a skipped example is not asked about again.
    done : answers and skips so far.
    cooling : position of each skipped example, and the turn from which it may be asked about again.
    drawn : random checks that were put and are not answered yet, by position.
    checks : random checks that are answered.
    believed : by position, what each answered example was taken for before; None where no category was known.
    closed : positions that are never asked about: excluded from the start, or discarded.
    """

    cool_down: int
    done: int = 0
    cooling: dict[int, int] = field(default_factory=dict)
    drawn: dict[int, Check] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    believed: dict[int, Answer | None] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)

    @classmethod
    def after(cls, acts: Iterable[Act], cool_down: int) -> Self:
        """As these acts leave it."""
        schedule = cls(cool_down)
        for act in acts:
            schedule.follow(act)
        return schedule

    def follow(self, act: Act) -> None:
        """One more act."""
        if act.kind == "question":
            self.drawn = {check.position: check for check in act.checks}
        elif act.kind == "undo":
            self.drawn |= {check.position: check for check in act.checks}
        elif act.kind == "label":
            for position in act.indices:
                self.cooling.pop(position, None)
            self.checks += [self.drawn.pop(position) for position in act.indices if position in self.drawn]
            self.believed |= dict(zip(act.indices, act.believed, strict=True))
            self.done += len(act.indices)
        elif act.kind == "forget":
            self.checks = [check for check in self.checks if check.position not in act.indices]
            self.believed = {place: guess for place, guess in self.believed.items() if place not in act.indices}
        elif act.kind == "skip":
            self.done += len(act.indices)
            self.cooling.update(dict.fromkeys(act.indices, self.done + self.cool_down))
        elif act.kind == "discard":
            self.done += len(act.indices)
            self.closed += act.indices
        elif act.kind == "start":
            self.closed += act.excluded

    def candidates(self, rest: Indices) -> tuple[Indices, str]:
        """Which of the rest may be asked about now, and what is to be said about it.

        Where all cool down, those that were skipped longest ago come back.
        """
        back = np.zeros(len(rest), dtype=np.intp)
        if self.cooling:
            back[:] = [self.cooling.get(position, 0) for position in rest.tolist()]
        ready = rest[back <= self.done]
        if len(ready) or not len(rest):
            return ready, ""
        state = f"All {len(rest):,} examples that are left were skipped; those skipped longest ago come back."
        return rest[back == back.min()], state

    @property
    def n_cooling(self) -> int:
        return sum(back > self.done for back in self.cooling.values())

    @staticmethod
    def is_check(turns: Indices, share: float) -> npt.NDArray[np.bool_]:
        """Which of these turns are those of random checks."""
        return np.floor((turns + 1) * share + 1e-9) > np.floor(turns * share + 1e-9)

    def draw(
        self,
        candidates: Indices,
        turns: Indices,
        share: float,
        n_rest: int,
        n_labelled: int,
        rng: np.random.Generator,
    ) -> tuple[Check, ...]:
        """The random checks among the questions of these turns, drawn before a rule chooses; every 1 / share-th is one."""
        n_checks = int(self.is_check(turns, share).sum())
        chosen = rng.permutation(candidates)[:n_checks].tolist() if n_checks else []
        return tuple(Check(place, n_rest - number, n_labelled + number) for number, place in enumerate(chosen))
