"""One self-contained page that shows a stranger what was learned, how well, and where it goes wrong."""

from fewsight.evaluation.report.kernel_figures import (
    class_windows,
    gain_figure,
    gain_slice,
    kernel_count_figure,
    windows_figure,
)
from fewsight.evaluation.report.parts_pictures import gram_figure, parts_figure, points_figure, scores_figure
from fewsight.evaluation.report.prediction_page import render_prediction_page, write_prediction_page
from fewsight.evaluation.report.section_baselines import comparison_figure
from fewsight.evaluation.report.weight_figures import descent_figure, weights_figure
from fewsight.evaluation.report.weights_heatmap import weights_heatmap
from fewsight.evaluation.report.wording import asking_in_words, comparison_in_words
from fewsight.evaluation.report.writing import render_report, write_report

__all__ = [
    "asking_in_words",
    "class_windows",
    "comparison_figure",
    "comparison_in_words",
    "descent_figure",
    "gain_figure",
    "gain_slice",
    "gram_figure",
    "kernel_count_figure",
    "parts_figure",
    "points_figure",
    "render_prediction_page",
    "render_report",
    "scores_figure",
    "weights_figure",
    "weights_heatmap",
    "windows_figure",
    "write_prediction_page",
    "write_report",
]
