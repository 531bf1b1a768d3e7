"""Measuring: protocols, repeated splits, records and the report."""

from fewsight.evaluation.active_curves import ActiveCurves, compare_asking
from fewsight.evaluation.baselines import BASELINES, Arm, Comparison, compare_baselines
from fewsight.evaluation.loan_gain import BorrowingResult, evaluate_borrowing
from fewsight.evaluation.outcomes import METRICS, Outcome, Setting, Strangeness
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.report import (
    asking_in_words,
    comparison_figure,
    comparison_in_words,
    descent_figure,
    gram_figure,
    parts_figure,
    points_figure,
    scores_figure,
    weights_figure,
    weights_heatmap,
    write_report,
)
from fewsight.evaluation.results import Evaluation, Summary, learned_shares
from fewsight.evaluation.runner import COMBINATIONS, LEARNED, evaluate

__all__ = [
    "BASELINES",
    "COMBINATIONS",
    "LEARNED",
    "METRICS",
    "ActiveCurves",
    "Arm",
    "BorrowingResult",
    "Comparison",
    "Draw",
    "Evaluation",
    "Outcome",
    "Protocol",
    "Setting",
    "Strangeness",
    "Summary",
    "asking_in_words",
    "compare_asking",
    "compare_baselines",
    "comparison_figure",
    "comparison_in_words",
    "descent_figure",
    "evaluate",
    "evaluate_borrowing",
    "gram_figure",
    "learned_shares",
    "parts_figure",
    "points_figure",
    "scores_figure",
    "weights_figure",
    "weights_heatmap",
    "write_report",
]
