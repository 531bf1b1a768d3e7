"""Ask where the posterior knows least, whatever the labels say. [Kapoor2010, table 1]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import QueryRule
from fewsight.active.views import View


@final
@dataclass(frozen=True)
class Variance(QueryRule):
    """The largest posterior variance."""

    name: ClassVar[str] = "variance"
    needs_labels: ClassVar[bool] = False

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        return view.variance[candidates]
