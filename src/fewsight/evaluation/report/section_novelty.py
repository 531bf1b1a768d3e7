"""The section on what the learner has never seen: what the template asks for, worded."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight.evaluation.outcomes import LabelArray, Setting
from fewsight.evaluation.report import figures
from fewsight.evaluation.report.context import Material
from fewsight.evaluation.report.strangers import Scores, Stranger, said, strangest, unnoticed
from fewsight.evaluation.report.wording import (
    channels_name,
    learner_name,
    percent,
    setting_name,
    short_path,
    shown_name,
    spread,
)
from fewsight.evaluation.results import Summary

Section = dict[str, Any]
MOST_STRANGE = 18
MOST_UNNOTICED = 8
THUMBNAIL = 168  # longest side, in pixels


def never_seen(material: Material) -> Section | None:
    """Whether images of held-out categories are told from the others, where categories were held out."""
    n_held_out = material.evaluation.protocol.hold_out
    if not n_held_out:
        return None
    of_all = f"{n_held_out} of {len(material.evaluation.classes)} categories"
    section = {"held_out": f"{of_all} {'was' if n_held_out == 1 else 'were'}", "setting": None}
    rows = {setting: found for setting, found in material.largest.items() if "unknown_auroc" in found}
    if not rows:
        return section
    setting = max(rows, key=lambda setting: rows[setting]["unknown_auroc"].mean)
    outcomes = material.outcomes(setting)
    scores, missed = Scores.of(outcomes), unnoticed(outcomes, _labels(material), MOST_UNNOTICED)
    return {
        **section,
        **_strangest(material, setting),
        "rows": [_row(setting, found) for setting, found in rows.items()],
        "told_apart": percent(rows[setting]["unknown_auroc"].mean, 0),
        "figure": figures.strangeness(scores.known, scores.held_out, has_threshold=scores.has_threshold),
        "unnoticed": [_card(material, stranger) for stranger in missed],
    }


def strange(material: Material) -> Section | None:
    """The strangest test images, where all categories were learned and a learner says what is strange."""
    rows = [setting for setting, found in material.largest.items() if "false_alarm_rate" in found]
    if material.evaluation.protocol.hold_out or not rows:
        return None
    return _strangest(material, max(rows, key=lambda setting: material.summaries[setting]["accuracy"].mean))


def _strangest(material: Material, setting: Setting) -> Section:
    outcomes = material.outcomes(setting)
    found = strangest(outcomes, _labels(material), MOST_STRANGE)
    known = [said(outcome).called_unknown[: len(outcome.test)] for outcome in outcomes]
    return {
        "setting": setting_name(setting),
        "cards": [_card(material, stranger) for stranger in found],
        "n_strangers": sum(stranger.held_out for stranger in found),
        "called": f"{sum(int(called.sum()) for called in known):,}",
        "asked": f"{sum(map(len, known)):,}",
        "has_threshold": Scores.of(outcomes).has_threshold,
        "several_repeats": len(outcomes) > 1,
    }


def _labels(material: Material) -> LabelArray:
    return np.asarray(material.image_set.labels, dtype=object)


def _row(setting: Setting, found: dict[str, Summary]) -> dict[str, str]:
    return {
        "learner": learner_name(setting.learner),
        "channels": channels_name(setting),
        "told_apart": spread(found["unknown_auroc"], 100),
        "false_alarms": spread(found["false_alarm_rate"], 100),
        "found": spread(found["found_rate"], 100),
    }


def _card(material: Material, stranger: Stranger) -> dict[str, Any]:
    return {
        "file": short_path(material.evaluation.names[stranger.image]),
        "truth": shown_name(stranger.truth),
        "taken_for": shown_name(stranger.taken_for),
        "right": stranger.truth == stranger.taken_for,
        "held_out": stranger.held_out,
        "called_unknown": stranger.called_unknown,
        "picture": material.thumbnails(stranger.image, THUMBNAIL),
        "example": material.thumbnails(stranger.example, THUMBNAIL),
    }
