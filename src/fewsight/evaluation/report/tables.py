"""The sections made of numbers: what the template asks for, worded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from fewsight._base.types import Array
from fewsight.evaluation.outcomes import STAGES, Outcome, Setting
from fewsight.evaluation.report import figures
from fewsight.evaluation.report.context import Material
from fewsight.evaluation.report.wording import (
    channels_name,
    counted,
    headline,
    learner_name,
    learner_note,
    percent,
    seconds,
    setting_name,
    shown_name,
    spread,
)
from fewsight.metrics import reliability_bins

Section = dict[str, Any]
MOST_UNREADABLE = 200
IMAGES_PER_DOT = 30  # of the reliability plot, if they were spread evenly: fewer say little
N_DOTS = (5, 15)  # at least, at most


def summary(material: Material) -> Section:
    """The headline and what is needed to judge it."""
    best = material.best
    accuracy = material.summaries[best]["accuracy"]
    n_classes = material.evaluation.n_learned
    tested = [len(outcome.test) for outcome in material.outcomes(best)]
    return {
        "headline": headline(best, accuracy, n_classes),
        "best": setting_name(best),
        "accuracy": spread(accuracy, 100),
        "chance": percent(1 / n_classes),
        "classes": n_classes,
        "held_out": material.evaluation.protocol.hold_out,
        "per_class": best.per_class,
        "examples": counted(best.per_class, "example"),
        "tested": f"{round(float(np.mean(tested))):,}",
        "repeats": len(tested),
    }


def accuracy(material: Material) -> Section:
    """One row per learner and channels, one column per number of examples."""
    columns = [
        {row: material.summaries.get(row._replace(per_class=size), {}).get("accuracy") for row in material.rows}
        for size in material.sizes
    ]
    best = [max(cell.mean for cell in column.values() if cell is not None) for column in columns]
    rows = []
    for row in material.rows:
        cells = [(column[row], highest) for column, highest in zip(columns, best, strict=True)]
        shown = [(spread(cell, 100), cell is not None and cell.mean == highest) for cell, highest in cells]
        rows.append({**_names(row), "cells": shown})
    learners = dict.fromkeys(row.learner for row in material.rows)
    notes = list(filter(None, map(learner_note, learners)))
    return {"sizes": material.sizes, "rows": rows, "notes": notes}


def curves(material: Material) -> Section | None:
    """Learning curves, where more than one number of examples was tried."""
    if len(material.sizes) < 2:
        return None
    lines = [figures.Curve(setting_name(row), _points(material, row)) for row in material.rows]
    chance = 1 / material.evaluation.n_learned
    legend = [
        {"label": line.label, "colour": figures.series_colour(i), "dashes": figures.series_dashes(i)}
        for i, line in enumerate(lines)
    ]
    return {"figure": figures.learning_curves(lines, chance), "legend": legend, "chance": percent(chance)}


def sureness(material: Material) -> Section | None:
    """Whether probabilities mean what they say, where a learner states any."""
    rows = [
        {
            **_names(setting),
            "log_loss": spread(found["log_loss"], digits=3),
            "calibration": spread(found["calibration_error"], 100),
        }
        for setting, found in material.largest.items()
        if "log_loss" in found
    ]
    if not rows:
        return None
    setting = material.most_honest
    return {"figure": _reliability(material.outcomes(setting)), "setting": setting_name(setting), "rows": rows}


def unreadable(material: Material) -> Section:
    """What took no part, and why."""
    errors, images = material.evaluation.unreadable, material.image_set
    rows = [{"name": shown_name(e.name), "reason": shown_name(e.reason)} for e in errors[:MOST_UNREADABLE]]
    return {
        "rows": rows,
        "left_out": len(errors) - len(rows),
        "empty": [shown_name(name) for name in images.empty_classes],
        "loose": counted(len(images.loose), "image") if images.loose else None,
    }


def timings(material: Material) -> Section:
    """Mean duration of the stages of one repeat, for the largest number of examples."""
    rows = [
        {**_names(setting), "cells": [seconds(found[stage].mean) if stage in found else "–" for stage in STAGES]}
        for setting, found in material.largest.items()
    ]
    total = material.evaluation.timings.get("total")
    return {"rows": rows, "per_class": material.sizes[-1], "total": None if total is None else seconds(total)}


def settings(material: Material, command: str | None, commit: str | None) -> Section:
    """What is needed to repeat it."""
    found = material.evaluation.settings(command=command, commit=commit)
    rows = {
        "images per category": found["images_per_class"] or "all",
        "training images per category": ", ".join(map(str, found["per_class"])),
        "test images per category": found["test_per_class"] or "all that remain",
        "repeats": found["repeats"],
        "seed of the first repeat": found["seed"],
        **_held_out(found["held_out"]),
        **{f"channel {name}": _listed(options) for name, options in found["channels"].items()},
        **{f"learner {name}": _listed(options) for name, options in found["learners"].items()},
        "fewsight": found["fewsight"] + (f", commit {commit}" if commit else ""),
        "libraries": _listed(found["versions"]),
    }
    shown = [(shown_name(name), shown_name(value)) for name, value in rows.items()]
    return {"rows": shown, "command": None if command is None else shown_name(command)}


def _names(setting: Setting) -> dict[str, str]:
    return {"learner": learner_name(setting.learner), "channels": channels_name(setting)}


def _points(material: Material, row: Setting) -> list[Any]:
    places = {size: row._replace(per_class=size) for size in material.sizes}
    return [(size, material.summaries[at]["accuracy"]) for size, at in places.items() if at in material.summaries]


def _reliability(outcomes: Sequence[Outcome]) -> Markup:
    classes = sorted({label for outcome in outcomes for label in outcome.classes})
    truth = np.concatenate([outcome.truth for outcome in outcomes])
    stated = np.concatenate([_among(outcome, classes) for outcome in outcomes])
    n_bins = int(np.clip(len(truth) // IMAGES_PER_DOT, *N_DOTS))
    return figures.reliability(reliability_bins(truth, stated, classes, n_bins=n_bins))


def _among(outcome: Outcome, classes: list[Any]) -> Array:
    """Probabilities with a column for each of `classes`, zero for those that were not learned in this repeat."""
    wide = np.zeros((len(outcome.test), len(classes)))
    wide[:, [classes.index(label) for label in outcome.classes]] = outcome.probabilities
    return wide


def _held_out(by_repeat: list[list[str]]) -> dict[str, str]:
    return {f"held out in draw {i}": ", ".join(names) for i, names in enumerate(by_repeat, start=1)}


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())
