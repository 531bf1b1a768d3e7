"""The section on which cue decides: what the template asks for, worded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fewsight.evaluation.outcomes import Setting
from fewsight.evaluation.report import figures
from fewsight.evaluation.report.context import Material
from fewsight.evaluation.report.wording import CUES, counted, learner_name, percent, shown_name, spread
from fewsight.evaluation.results import Summary, learned_shares

Section = dict[str, Any]
ROUNDING = 1e-9  # shares that differ by less are alike
Shares = dict[int, dict[str, Summary]]  # by examples per class and by channel


def cues(material: Material) -> Section | None:
    """How much each channel counts, where that was learned; the most accurate learner speaks, if several learned it."""
    found = learned_shares(material.evaluation)
    if not found:
        return None
    best = max(found, key=lambda setting: (setting.per_class, material.summaries[setting]["accuracy"].mean))
    shares = {setting.per_class: of_it for setting, of_it in found.items() if _row(setting) == _row(best)}
    channels = list(shares[best.per_class])  # the most important first
    return {
        **_strongest(best, shares),
        "figure": figures.shares([_values(shares, channel) for channel in channels]),
        "sizes": list(shares),
        "rows": [_channel(position, channel, shares) for position, channel in enumerate(channels)],
        "draws": material.evaluation.protocol.repeats,
        "least": percent(figures.LEAST_SHARE) if _any_below(shares, figures.LEAST_SHARE) else None,
        "has_one": 1 in material.sizes,
        "learner": learner_name(best.learner),
    }


def _row(setting: Setting) -> Setting:
    return setting._replace(per_class=0)


def _strongest(best: Setting, shares: Shares) -> dict[str, Any]:
    """The channel that counts most with the most examples, if one counts more than another."""
    means = [share.mean for share in shares[best.per_class].values()]
    channel = next(iter(shares[best.per_class]))
    return {
        "strongest": shown_name(channel) if max(means) - min(means) > ROUNDING else None,
        "cue": CUES.get(channel),
        "share": percent(means[0], 0),
        "examples": counted(best.per_class, "example"),
    }


def _values(shares: Shares, channel: str) -> Mapping[int, tuple[float, ...]]:
    return {size: by_channel[channel].values for size, by_channel in shares.items()}


def _channel(position: int, channel: str, shares: Shares) -> dict[str, Any]:
    return {
        "letter": figures.channel_letter(position),
        "colour": figures.series_colour(position),
        "name": shown_name(channel),
        "cue": CUES.get(channel, ""),
        "cells": [spread(by_channel[channel], 100) for by_channel in shares.values()],
    }


def _any_below(shares: Shares, least: float) -> bool:
    return any(min(share.values) < least for by_channel in shares.values() for share in by_channel.values())
