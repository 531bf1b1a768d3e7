"""The section on models of parts: where points and parts are, and how images lie under the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.types import Indices
from fewsight.channels import FisherChannel
from fewsight.evaluation.report.parts_pictures import gram_figure, parts_figure, points_figure, scores_figure
from fewsight.evaluation.report.pictures import figure_address
from fewsight.images import ImageSet

IMAGES = 8  # with points and parts
COMPARED = 60  # images in the Gram matrix and in the plane
CATEGORIES = 6  # in these two, or nobody could tell their colours apart
RESOLUTION = 90  # dots per inch


def parts_section(channel: FisherChannel, image_set: ImageSet) -> dict[str, Any]:
    """What the template asks for: four pictures as data addresses, from labelled images spread over the categories."""
    shown = _spread(image_set, IMAGES, len(set(image_set.labels)))
    compared = _spread(image_set, COMPARED, CATEGORIES)
    images, others = ([image_set.images[place] for place in places] for places in (shown, compared))
    K, labels = channel.gram(channel.encode(others)), [image_set.labels[place] for place in compared]
    figures = {
        "points": points_figure(channel, images),
        "parts": parts_figure(channel, images),
        "gram": gram_figure(K, labels),
        "plane": scores_figure(K, labels),
    }
    said = {"n_parts": channel.n_parts, "n_models": channel.n_models, "n_compared": len(compared)}
    return {**{name: figure_address(figure, RESOLUTION) for name, figure in figures.items()}, **said}


def _spread(image_set: ImageSet, most: int, n_categories: int) -> Indices:
    """At most this many images, taking turns between the first categories."""
    chosen = list(dict.fromkeys(label for label in image_set.labels if label is not None))[:n_categories]
    turns = [np.flatnonzero([label == name for label in image_set.labels]) for name in chosen]
    longest = max((len(turn) for turn in turns), default=0)
    ordered = [int(turn[place]) for place in range(longest) for turn in turns if place < len(turn)]
    return np.array(ordered[:most], np.intp)
