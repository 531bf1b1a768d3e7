"""Why an example is asked about, in one plain line."""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Indices
from fewsight.active.rules import QueryRule
from fewsight.active.views import View

CHECK = "a random check"
STRANGE = 0.8  # of the variance before any label: nothing labelled says much about such an example


def reasons_of(rule: QueryRule, view: View, positions: Indices) -> list[str]:
    """One line for each example that a rule chose."""
    if rule.name == "random":
        return ["drawn at random"] * len(positions)
    if rule.name == "coverage" or not view.classes:
        return ["stands for many others"] * len(positions)
    return [_reason(rule, view, int(position)) for position in positions]


def _reason(rule: QueryRule, view: View, position: int) -> str:
    if rule.name == "exploration":
        return "uncertain, and unlike anything labelled"
    prior = float(view.diagonal[position])
    if rule.name == "variance" or len(view.classes) == 1 or float(view.variance[position]) > STRANGE * prior:
        return "least like anything labelled"
    first, second = np.argsort(-view.mean[position], kind="stable")[:2]
    between = f"between {view.classes[first]} and {view.classes[second]}"
    return f"{between}, and the answer tells about others" if rule.uses_probabilities else between
