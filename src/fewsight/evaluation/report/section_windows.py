"""The section on where in the image each category is looked at, for a learner that chose windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight.evaluation.report.kernel_figures import class_windows, windows_figure
from fewsight.evaluation.report.pictures import figure_address
from fewsight.images import ImageSet
from fewsight.learners.weighted_machines import WeightedMachines

MOST_SHOWN = 20  # categories
RESOLUTION = 110  # dots per inch


def windows_section(learner: WeightedMachines, image_set: ImageSet) -> dict[str, Any]:
    """What the template asks for: the picture as a data address, and how many windows a category has."""
    windows = class_windows(learner)
    shown = list(windows)[:MOST_SHOWN]
    figure = windows_figure(learner, image_set.images, list(image_set.labels), shown)
    return {
        "picture": figure_address(figure, RESOLUTION),
        "n_windows": f"{np.mean([len(boxes) for boxes in windows.values()]):.1f}",
        "left_out": len(windows) - len(shown),
    }
