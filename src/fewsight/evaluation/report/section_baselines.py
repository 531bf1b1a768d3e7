"""The section that compares with what people fit to the same features today: what the template asks for, worded."""

from __future__ import annotations

from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from fewsight.evaluation.baselines import RANDOM, Arm, Comparison
from fewsight.evaluation.report import figures
from fewsight.evaluation.report.panels import Line, comparison_panels, with_legend
from fewsight.evaluation.report.wording import comparison_in_words, counted, learner_name, shown_name, spread

Section = dict[str, Any]
COLOURS = ("#0072b2", "#d55e00", "#00805d", "#b0588b", "#b57c00", "#2f8cc4")  # the page's by daylight
INK, FAINT = "#1c1c1c", "#d9d9d9"
DASHES = ("", "8 3", "2 2")
NAMES = {
    "accuracy": "right (%)",
    "log_loss": "log loss",
    "calibration_error": "off by (%)",
    "unknown_auroc": "told apart (%)",
}


def comparison_section(comparison: Comparison) -> Section:
    """The picture, a table of its right end, and what it says in words."""
    lines = _lines(comparison)
    return {
        "words": comparison_in_words(comparison),
        "figure": _inline(comparison, lines),
        "legend": [
            {"label": line.label, "colour": figures.series_colour(line.colour), "dashes": DASHES[line.dashes]}
            for line in lines.values()
        ],
        "headings": [NAMES[metric] for metric in comparison.metrics],
        "rows": [{"label": line.label, "cells": _cells(comparison, arm)} for arm, line in lines.items()],
        "labels": counted(comparison.labels[-1], "label"),
        "first": counted(comparison.labels[0], "label"),
        "repeats": len(next(iter(comparison.curves.values()))["accuracy"]),
        "pool": f"{comparison.n_pool:,}",
        "tested": f"{comparison.n_tested:,}",
        "held_out": comparison.n_held_out,
        "channels": shown_name(comparison.channels).replace("+", " + "),
        "several": "+" in comparison.channels,
        "rule": shown_name(comparison.asking.rule),
    }


def comparison_figure(comparison: Comparison) -> Figure:
    """The picture with its legend, to be written with `savefig`."""
    lines = _lines(comparison)
    with matplotlib.rc_context({"text.parse_math": False}):
        drawn = comparison_panels(comparison, lines, COLOURS.__getitem__, ink=INK, faint=FAINT)
        return with_legend(drawn, list(lines.values()), COLOURS.__getitem__)


def _inline(comparison: Comparison, lines: dict[Arm, Line]) -> Markup:
    with matplotlib.rc_context(figures.STYLE):
        drawn = comparison_panels(comparison, lines, figures.series, ink=figures.INK, faint=figures.FAINT)
        return figures.as_inline(drawn, "fewsight against baselines on the same features, by number of labels")


def _lines(comparison: Comparison) -> dict[Arm, Line]:
    """One colour for fewsight, dashed for random labels; one each for the baselines, which have random labels only."""
    others = {arm: position for position, arm in enumerate(comparison.baselines, start=1)}
    return {arm: _line(arm, others.get(arm, 0)) for arm in comparison.curves}


def _line(arm: Arm, colour: int) -> Line:
    if colour:
        return Line(learner_name(arm.learner), colour % len(COLOURS), 1 + colour % 2)
    if arm.rule == RANDOM:
        return Line("fewsight, labels picked at random", 0, 1)
    return Line("fewsight, labels it asks for", 0, 0)


def _cells(comparison: Comparison, arm: Arm) -> list[str]:
    digits = {"log_loss": (1.0, 3)}
    ends = {metric: comparison.curve(arm, metric)[-1][1] for metric in comparison.metrics}
    return [spread(found, *digits.get(metric, (100.0, 1))) for metric, found in ends.items()]
