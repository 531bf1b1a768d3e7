"""Ask about anything: what every other rule has to beat, and what audits are drawn by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import Query, QueryRule, sorted_query
from fewsight.active.views import View


@final
@dataclass(frozen=True)
class Random(QueryRule):
    """Uniformly at random, near-duplicates or not: a batch is a fair sample of the candidates."""

    name: ClassVar[str] = "random"
    needs_labels: ClassVar[bool] = False

    def reason(self, view: View, position: int) -> str:
        return "drawn at random"

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        return rng.random(len(candidates))

    def choose(self, view: View, candidates: Indices, size: int | None, rng: np.random.Generator) -> Query:
        scores = self._scores(view, candidates, rng)
        return sorted_query(candidates, scores).first(size or 1)
