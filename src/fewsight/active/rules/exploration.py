"""Ask where nothing is known yet: how a category that nobody has named is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.stats import rankdata

from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import QueryRule
from fewsight.active.rules.uncertainty import Uncertainty
from fewsight.active.views import View

OVERALL = Uncertainty()


@final
@dataclass(frozen=True)
class Exploration(QueryRule):
    """What is uncertain, like no category, and like nothing labelled: the largest sum of three ranks.

    The second is how little the largest mean stands above the average of all means, the third is the variance. Each alone
    finds other outliers first; ranks let them speak together whatever their units.
    """

    name: ClassVar[str] = "exploration"

    def reason(self, view: View, position: int) -> str:
        return "uncertain, and unlike anything labelled"

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        columns = view.mean.T[:, candidates]
        signs = (
            OVERALL._scores(view, candidates, rng),
            columns.mean(axis=0) - columns.max(axis=0),
            view.variance[candidates],
        )
        return np.sum([rankdata(sign) for sign in signs], axis=0) / (3 * len(candidates))
