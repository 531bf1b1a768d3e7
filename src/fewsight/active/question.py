"""The next question: what a rule chooses, some of it to explore, and random checks, as one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.none_of_these import NoneOfThese
from fewsight._base.types import Indices
from fewsight.active.history import Check
from fewsight.active.rules import Coverage, Exploration, Query, QueryRule
from fewsight.active.rules.base import nothing
from fewsight.active.rules.diversity import apart_first, apart_from
from fewsight.active.schedule import Schedule
from fewsight.active.views import LabelledView, View
from fewsight.active.views.base import Answer

CHECK = "a random check"
FEW = 3  # labels of each category, on average
EVERY, EVERY_AFTER, SELDOM = 2, 3, 10  # which question explores: while labels are few, later, and where nothing hides
SPARE = 4  # choices of a rule beyond those that are wanted, where some may be twins of what is held
NOBODY: Indices = np.zeros(0, dtype=np.intp)


@final
@dataclass(frozen=True)
class QuestionBuilder:
    """How questions are chosen; the options are those of `ActiveLearner`."""

    rule: QueryRule
    explore: bool
    audit_share: float
    random_state: int

    def query(
        self,
        view: LabelledView,
        schedule: Schedule,
        rest: Indices,
        size: int | None,
        calibrate: Callable[[], None],
        held: Indices = NOBODY,
    ) -> tuple[Query, tuple[Check, ...]]:
        """What to ask about next among the rest, and which of it are random checks; some rules want `calibrate` done first.

        The examples at `held` were put to somebody else: each has its turn, and none is asked about. What is asked beside them is
        chosen as if each had the label that it is taken for, where a label is quickly learned, and else is no twin of theirs.
        """
        held = np.intersect1d(held, rest) if len(held) else held
        candidates, state = schedule.candidates(without(rest, held))
        if not len(candidates):
            return nothing(view), ()
        turn = schedule.done + len(held)
        rng = np.random.default_rng([self.random_state, turn])
        turns = turn + np.arange(1 if size is None else size)
        n_known = view.n_labelled + len(held)  # once all that was put is answered
        checks = schedule.draw(candidates, turns, self.audit_share, len(rest), n_known, rng)
        drawn = np.array([check.position for check in checks], dtype=np.intp)
        # Coverage until there are two categories to be uncertain between.
        rule = Coverage() if len(view.classes) < 2 and self.rule.name != "random" else self.rule
        among = without(candidates, drawn)
        if rule.uses_probabilities:
            calibrate()
        wanted = None if size is None else size - len(drawn)
        is_check = schedule.is_check(turns, self.audit_share)
        if wanted == 0 or not len(among):
            return _joined([], drawn, is_check, state), checks
        with view.supposing(held) as supposed:
            parts = self._parts(rule, view, among, wanted, held if not supposed else NOBODY, n_known, rng)
        return _joined(parts, drawn, is_check, state), checks

    def _parts(
        self,
        rule: QueryRule,
        view: LabelledView,
        among: Indices,
        wanted: int | None,
        held: Indices,
        n_known: int,
        rng: np.random.Generator,
    ) -> list[Query]:
        """What the rule chooses, and what is asked in its place to explore."""
        explores = self.explore and rule.needs_labels and len(view.classes) > 1  # other rules look everywhere anyway
        hiding = explores and seems_to_hide(view.labels)
        n_exploring = exploring(n_known, len(view.classes), wanted, hiding) if explores and wanted is not None else 0
        if not n_exploring:
            return [_by(rule, view, among, wanted, held, rng)]
        explored = _by(Exploration(), view, among, n_exploring, held, rng)
        n_left = (wanted or 1) - len(explored.indices)
        others = without(among, explored.indices)
        if not n_left or not len(others):
            return [explored]
        return [_by(rule, view, apart_from(view, explored.indices, others, rng), n_left, held, rng), explored]


def without(positions: Indices, some: Indices) -> Indices:
    """All but some, in their order; many positions, few others."""
    return positions[~np.isin(positions, some, kind="table")] if len(some) and len(positions) else positions


def exploring(n_labelled: int, n_classes: int, size: int, hiding: bool = True) -> int:
    """How many of the next questions explore: every second while labels are few; later every third while the pool seems to
    hide categories, and every tenth where it does not."""
    turns = n_labelled + np.arange(size)
    every = np.where(turns < FEW * n_classes, EVERY, EVERY_AFTER if hiding else SELDOM)
    return int((turns % every == every - 1).sum())


def seems_to_hide(labels: Sequence[Answer]) -> bool:
    """Whether some category has one label only. [Good1953]

    Of examples drawn at random, about as large a share is of categories that nobody has named as that of the labels that are the
    only one of their category.
    """
    return 1 in Counter(label for label in labels if not isinstance(label, NoneOfThese)).values()


def _by(
    rule: QueryRule, view: View, among: Indices, size: int | None, held: Indices, rng: np.random.Generator
) -> Query:
    """What a rule chooses, with reasons; twins of what is held only where nothing else is left among its first choices."""
    if size is None or not len(held):
        found = rule.choose(view, among, size, rng)
    else:
        found = rule.choose(view, among, size + len(held) + SPARE, rng)
        found = found.take(apart_first(view, held, found.indices, rng)[:size])
    return Query(found.indices, found.scores, tuple(rule.reason(view, place) for place in found.indices.tolist()))


def _joined(parts: Sequence[Query], drawn: Indices, is_check: npt.NDArray[np.bool_], state: str) -> Query:
    """Questions and checks as one query, each check at its turn: somebody may answer the first of them only.

    Scores of different rules cannot be compared: later parts, and checks, get that of the question before.
    """
    indices = np.concatenate([*(part.indices for part in parts), drawn])
    reasons = [*(reason for part in parts for reason in part.reasons), *[CHECK] * len(drawn)]
    scores = parts[0].scores.tolist() if parts else []
    n_chosen, score, in_turn = len(indices) - len(drawn), scores[0] if scores else 0.0, list[float]()
    order = _in_turn(n_chosen, len(drawn), is_check)
    for place in order:
        score = scores[place] if place < len(scores) else score
        in_turn.append(score)
    return Query(indices[order], np.array(in_turn), tuple(reasons[place] for place in order), state)


def _in_turn(n_chosen: int, n_checks: int, is_check: npt.NDArray[np.bool_]) -> list[int]:
    """Places of chosen questions and of the checks behind them, in the order in which their turns come."""
    chosen, checks = list(range(n_chosen)), list(range(n_chosen, n_chosen + n_checks))
    order: list[int] = []
    for turn in is_check.tolist():
        waiting = checks if (turn and checks) or not chosen else chosen
        order += [waiting.pop(0)] if waiting else []
    return [*order, *chosen, *checks]
