"""What a learner says about every example of its pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.types import Array
from fewsight.active.views import Label, LabelledView
from fewsight.active.views.base import Mask


@final
@dataclass(frozen=True, eq=False)
class PoolAssessment:
    """Of m examples: how probable each of k categories is, and whether it is like any of them.

    Attributes
    ----------
    classes : the categories, in the order of columns.
    probability : (m, k), given that an example belongs to one of them.
    unknown_score : (m,), higher for stranger examples; None where the learner does not say.
    unknown : (m,), whether each is like none of them; likewise.
    """

    classes: list[Label]
    probability: Array
    unknown_score: Array | None = None
    unknown: Mask | None = None

    @classmethod
    def of(cls, view: LabelledView) -> PoolAssessment:
        """As a view that is calibrated sees its pool."""
        if not view.classes:
            return cls([], np.zeros((len(view), 0)))
        score, novelty = view.strangeness(), view.novelty
        unknown = None if score is None or novelty is None else score > novelty.threshold
        return cls(list(view.classes), view.probabilities(), score, unknown)
