"""A query rule: ask where the probabilities are spread most evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewsight import QueryRule


@dataclass(frozen=True)
class Entropy(QueryRule):
    """The largest entropy of the probabilities of the categories."""

    name: ClassVar[str] = "entropy"
    uses_probabilities: ClassVar[bool] = True

    def _scores(self, view, candidates, rng):
        probability = np.maximum(view.probabilities(candidates), 1e-12)
        return -(probability * np.log(probability)).sum(axis=1)
