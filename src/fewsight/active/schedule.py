"""Whose turn it is: what was skipped, and which questions are random checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fewsight._base.types import Indices
from fewsight.active.assessment.audit import Draw
from fewsight.active.views import View


class Mark(NamedTuple):
    """Where things stood before an answer or a skip."""

    done: int
    cooling: dict[int, int]
    drawn: dict[int, Draw]
    n_audits: int
    n_predicted: int


@dataclass
class Event:
    """What `undo` needs to know about one call of `teach`, `skip` or `correct`."""

    before: Mark
    n_labels: int = 0  # that it added
    corrected: tuple[int, Any] | None = None  # place among the labels, and the label before


@dataclass
class Schedule:
    """Everything about questions that is not in the view.

    Attributes
    ----------
    done : answers and skips so far.
    cooling : position of each skipped example, and the turn from which it may be asked about again.
    drawn : random checks of the last query that are not answered yet, by position.
    audits : random checks that are answered.
    predicted : of each answer, what its example was taken for before; None where no category was known.
    """

    done: int = 0
    cooling: dict[int, int] = field(default_factory=dict)
    drawn: dict[int, Draw] = field(default_factory=dict)
    audits: list[Draw] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)

    def mark(self) -> Mark:
        """Where things stand, for `go_back`."""
        return Mark(self.done, dict(self.cooling), dict(self.drawn), len(self.audits), len(self.predicted))

    def go_back(self, mark: Mark) -> None:
        """To how things stood."""
        self.done, self.cooling, self.drawn = mark.done, dict(mark.cooling), dict(mark.drawn)
        del self.audits[mark.n_audits :]
        del self.predicted[mark.n_predicted :]

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

    def draw(
        self, candidates: Indices, size: int, share: float, n_rest: int, n_labelled: int, rng: np.random.Generator
    ) -> Indices:
        """The random checks among the next questions, drawn before a rule chooses; every 1 / share-th is one."""
        turns = self.done + np.arange(size)
        n_checks = int((np.floor((turns + 1) * share + 1e-9) > np.floor(turns * share + 1e-9)).sum())
        chosen = rng.permutation(candidates)[:n_checks] if n_checks else candidates[:0]
        self.drawn = {
            place: Draw(place, n_rest - number, n_labelled + number) for number, place in enumerate(chosen.tolist())
        }
        return chosen

    def answer(self, view: View, position: int) -> None:
        """An answer comes, and is not learned yet: what was expected, and whether the question was a check."""
        guess = view.classes[int(view.mean[position].argmax())] if view.classes else None
        self.predicted.append(guess)
        draw = self.drawn.pop(position, None)
        if draw is not None:
            self.audits.append(draw)
        self.cooling.pop(position, None)
        self.done += 1

    def skip(self, positions: Indices, cool_down: int) -> None:
        """Put examples off for so many turns."""
        self.done += len(positions)
        self.cooling.update(dict.fromkeys(positions.tolist(), self.done + cool_down))
