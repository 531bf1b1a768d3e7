"""Ask where the decision is least certain. [Kapoor2010, section 7]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_choice
from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import QueryRule
from fewsight.active.views import View

MODES = ("overall", "each")


@dataclass(frozen=True)
class ByMargin(QueryRule):
    """Rules that look at how far each example is from being decided the other way.

    mode : "overall" compares the two largest means of an example, so that two classes give what one problem would;
        "each" asks about every one-vs-all problem in turn, as the paper does.
    """

    mode: str = "overall"

    def __post_init__(self) -> None:
        check_choice(self, "mode", self.mode, MODES)

    def _margins(self, view: View, candidates: Indices) -> Array:
        """(q,), or (q, c) for each problem by itself."""
        if self.mode == "each" or len(view.classes) == 1:
            margins = np.abs(view.mean[candidates])
            return margins if self.mode == "each" else margins[:, 0]
        return 0.5 * view.gaps()[candidates]


@final
@dataclass(frozen=True)
class Uncertainty(ByMargin):
    """The smallest |mean| / sqrt(variance + noise): where the sign of the label is most open. [Kapoor2010, eq. 10]"""

    name: ClassVar[str] = "uncertainty"

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        margins = self._margins(view, candidates)
        spread = np.sqrt(np.maximum(view.variance[candidates] + view.noise_variance, 1e-300))
        if not spread.max() > 1e-100:  # a learner that states no uncertainty
            return -margins
        return -margins / (spread if margins.ndim == 1 else spread[:, None])


@final
@dataclass(frozen=True)
class Margin(ByMargin):
    """The smallest distance from the boundary: |mean|, or half the distance of the two largest. [Kapoor2010, table 1]"""

    name: ClassVar[str] = "margin"

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        return -self._margins(view, candidates)
