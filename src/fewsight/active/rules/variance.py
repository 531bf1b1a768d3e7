"""Ask where the posterior knows least, whatever the labels say. [Kapoor2010, table 1]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import STANDS_FOR_MANY, UNLIKE_ANYTHING, QueryRule
from fewsight.active.views import View


@final
@dataclass(frozen=True)
class Variance(QueryRule):
    """The largest posterior variance."""

    name: ClassVar[str] = "variance"
    needs_labels: ClassVar[bool] = False

    def reason(self, view: View, position: int) -> str:
        return UNLIKE_ANYTHING if view.classes else STANDS_FOR_MANY

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        return view.variance[candidates]
