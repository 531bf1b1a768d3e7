"""How much each channel counts in a combination that was learned."""

from __future__ import annotations

from fewsight.evaluation.outcomes import WEIGHT, Setting
from fewsight.evaluation.results import Evaluation, Summary


def learned_shares(evaluation: Evaluation) -> dict[Setting, dict[str, Summary]]:
    """The share of each channel over the repeats, the largest mean first, for each setting that learned them.

    Settings with one example per class are left out: nothing can be learned from them, and all channels count the same.
    """
    found = {
        setting: {name.removeprefix(WEIGHT): value for name, value in summaries.items() if name.startswith(WEIGHT)}
        for setting, summaries in evaluation.summaries.items()
        if setting.per_class > 1
    }
    return {setting: _largest_first(shares) for setting, shares in found.items() if shares}


def _largest_first(shares: dict[str, Summary]) -> dict[str, Summary]:
    return dict(sorted(shares.items(), key=lambda item: -item[1].mean))
