"""The section on which image to label next: what the template asks for, worded."""

from __future__ import annotations

from typing import Any

from fewsight.evaluation.active_curves import ActiveCurves
from fewsight.evaluation.report import figures
from fewsight.evaluation.report.wording import asking_in_words, counted, shown_name

Section = dict[str, Any]
LABELS = ("labels it asked for", "labels picked at random")
DASHES = ("", "8 3")


def asking_section(asking: ActiveCurves) -> Section:
    """Both learning curves, and what they say in words."""
    lines = [figures.Curve(label, points) for label, points in zip(LABELS, asking.curves.values(), strict=True)]
    legend = [
        {"label": label, "colour": figures.series_colour(position), "dashes": DASHES[position]}
        for position, label in enumerate(LABELS)
    ]
    return {
        "words": asking_in_words(asking),
        "figure": figures.asking_curves(lines, asking.target, asking.needed),
        "legend": legend,
        "first": counted(asking.labels[0], "label"),
        "rule": shown_name(asking.rule),
        "starts": len(asking.asked),
        "gain": _gain(asking),
        "better": asking.gain.mean >= 0,
        "pool": f"{asking.n_pool:,}",
        "tested": f"{asking.n_tested:,}",
    }


def _gain(asking: ActiveCurves) -> str:
    """The size of the mean gain in points, with its standard error as far as there is one."""
    error = asking.gain.standard_error
    return f"{100 * abs(asking.gain.mean):.1f}" + ("" if error is None else f" ± {100 * error:.1f}")
