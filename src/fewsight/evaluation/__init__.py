"""Measuring: protocols, repeated splits, records and the report."""

from fewsight.evaluation.asking import Asking, compare_asking
from fewsight.evaluation.borrowing import BorrowingResult, evaluate_borrowing
from fewsight.evaluation.outcomes import METRICS, Outcome, Setting, Strangeness
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.report import asking_in_words, weights_heatmap, write_report
from fewsight.evaluation.results import Evaluation, Summary
from fewsight.evaluation.runner import evaluate
from fewsight.evaluation.shares import learned_shares

__all__ = [
    "METRICS",
    "Asking",
    "BorrowingResult",
    "Draw",
    "Evaluation",
    "Outcome",
    "Protocol",
    "Setting",
    "Strangeness",
    "Summary",
    "asking_in_words",
    "compare_asking",
    "evaluate",
    "evaluate_borrowing",
    "learned_shares",
    "weights_heatmap",
    "write_report",
]
