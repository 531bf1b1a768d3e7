"""The sections that show categories and images: what the template asks for, worded."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.evaluation.report.confusion import Confusion, Pair
from fewsight.evaluation.report.context import Material
from fewsight.evaluation.report.mistakes import Mistake, confident_mistakes
from fewsight.evaluation.report.pictures import heat_map
from fewsight.evaluation.report.wording import percent, setting_name, short_path, shown_name

Section = dict[str, Any]
MOST_NAMED_CLASSES = 25  # in a confusion matrix with names and numbers
MOST_EXAMPLE_CLASSES = 120
MOST_BARS = 240
MOST_MISTAKES = 12
DARK_SHADE = 0.82  # from here on white is easier to read on a cell than ink
LARGE, SMALL = 168, 112  # longest side of a thumbnail, in pixels


def examples(material: Material) -> Section:
    """A few training images of each category, fewer where there are many categories."""
    classes = material.learned[:MOST_EXAMPLE_CLASSES]
    each = 5 if len(classes) <= 12 else 3 if len(classes) <= 30 else 1
    rows = []
    for label in classes:
        pictures = [material.thumbnails(index, SMALL) for index in material.training_images[label][:each]]
        rows.append({"name": shown_name(label), "pictures": [picture for picture in pictures if picture]})
    return {"rows": rows, "each": each, "left_out": len(material.learned) - len(classes)}


def confusion(material: Material, counts: Confusion) -> Section:
    """The confusion matrix with names and numbers, or as a heat map where there are many categories."""
    names = [shown_name(label) for label in material.learned]
    named = len(names) <= MOST_NAMED_CLASSES
    rows = [
        {"name": name, "cells": _cells(row, i)} for i, (name, row) in enumerate(zip(names, counts.shares, strict=True))
    ]
    return {
        "names": names,
        "rows": rows if named else None,
        "picture": None if named else heat_map(counts.shares),
        "pairs": [_pair(material, pair, names) for pair in counts.pairs(6 if named else 15)],
    }


def categories(material: Material, counts: Confusion) -> Section:
    """Accuracy of each category, easiest first; the middle is left out where there are very many."""
    pairs = zip(counts.recalls.tolist(), material.learned, strict=True)
    tested = [(recall, shown_name(label)) for recall, label in pairs if np.isfinite(recall)]
    ordered = sorted(tested, key=lambda pair: (-pair[0], pair[1]))
    half = MOST_BARS // 2
    kept = ordered if len(ordered) <= MOST_BARS else ordered[:half] + ordered[-half:]
    rows = [{"name": name, "share": percent(recall, 0), "width": f"{100 * recall:.1f}"} for recall, name in kept]
    return {"columns": _in_columns(rows), "left_out": len(ordered) - len(kept)}


def mistakes(material: Material) -> Section:
    """The mistakes that the learner with the most honest probabilities was most sure of."""
    outcomes = material.outcomes(material.most_honest)
    labels = np.asarray(material.image_set.labels, dtype=object)
    wrong = sum(int((outcome.truth != outcome.predicted).sum()) for outcome in outcomes)
    asked = sum(len(outcome.test) for outcome in outcomes)
    return {
        "setting": setting_name(material.most_honest),
        "cards": [_card(material, mistake) for mistake in confident_mistakes(outcomes, labels, MOST_MISTAKES)],
        "wrong": f"{wrong:,}",
        "asked": f"{asked:,}",
        "several_repeats": len(outcomes) > 1,
    }


def _card(material: Material, mistake: Mistake) -> dict[str, Any]:
    return {
        "file": short_path(material.evaluation.names[mistake.image]),
        "truth": shown_name(mistake.truth),
        "predicted": shown_name(mistake.predicted),
        "sure": None if mistake.confidence is None else percent(mistake.confidence, 0),
        "picture": material.thumbnails(mistake.image, LARGE),
        "example": material.thumbnails(mistake.example, LARGE),
    }


def _pair(material: Material, pair: Pair, names: list[str]) -> dict[str, Any]:
    first = {end: material.training_images[material.learned[end]][0] for end in (pair.truth, pair.predicted)}
    return {
        "truth": names[pair.truth],
        "predicted": names[pair.predicted],
        "share": percent(pair.share, 0),
        "count": f"{pair.count:,} of {pair.total:,}",
        "truth_picture": material.thumbnails(first[pair.truth], SMALL),
        "predicted_picture": material.thumbnails(first[pair.predicted], SMALL),
    }


def _cells(shares: Array, own: int) -> list[dict[str, Any]]:
    """A row of the confusion matrix: text, strength of the shade, and whether it is the right answer."""
    return [
        {
            "text": f"{100 * share:.0f}" if share else "",
            "shade": f"{share:.3f}",
            "right": column == own,
            "dark": share > DARK_SHADE,
        }
        for column, share in enumerate(shares)
    ]


def _in_columns(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    n_columns = 1 if len(rows) <= 16 else 2 if len(rows) <= 60 else 3
    height = max(1, -(-len(rows) // n_columns))
    return [rows[start : start + height] for start in range(0, len(rows), height)]
