"""The next question: random checks and what a rule chooses, as one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.types import Indices
from fewsight.active.knowledge import Knowledge
from fewsight.active.reasons import CHECK, reasons_of
from fewsight.active.rules import Coverage, Query, QueryRule
from fewsight.active.rules.base import nothing
from fewsight.active.turns import Turns
from fewsight.active.views import View


@final
@dataclass(frozen=True)
class Asking:
    """How questions are chosen; the options are those of `ActiveLearner`."""

    rule: QueryRule
    audit_share: float
    random_state: int

    def query(self, known: Knowledge, turns: Turns, rest: Indices, size: int | None) -> Query:
        """What to ask about next among the rest."""
        candidates, state = turns.candidates(rest)
        if not len(candidates):
            return nothing(known.view)
        rng = np.random.default_rng([self.random_state, turns.done])
        drawn = turns.draw(
            candidates, 1 if size is None else size, self.audit_share, len(rest), known.view.n_labelled, rng
        )
        rule, among = self._rule_now(known.view), np.setdiff1d(candidates, drawn) if len(drawn) else candidates
        if rule.uses_probabilities:
            known.calibrate()
        wanted = None if size is None else size - len(drawn)
        if wanted == 0 or not len(among):
            return _joined(drawn, nothing(known.view), rule, known.view, state)
        chosen = rule.query(known.view, among=among, batch_size=wanted, random_state=rng)
        return _joined(drawn, chosen, rule, known.view, state)

    def _rule_now(self, view: View) -> QueryRule:
        """The rule, or coverage until there are two categories to be uncertain between."""
        return Coverage() if len(view.classes) < 2 and self.rule.name != "random" else self.rule


def _joined(drawn: Indices, chosen: Query, rule: QueryRule, view: View, state: str) -> Query:
    """Checks and questions as one query; checks stand last, with the lowest score."""
    reasons = (*reasons_of(rule, view, chosen.indices), *[CHECK] * len(drawn))
    lowest = float(chosen.scores[-1]) if len(chosen) else 0.0
    scores = np.concatenate([chosen.scores, np.full(len(drawn), lowest)])
    return Query(np.concatenate([chosen.indices, drawn]), scores, reasons, state)
