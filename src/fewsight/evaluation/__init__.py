"""Measuring: protocols, repeated splits, records and the report."""

from fewsight.evaluation.outcomes import METRICS, Outcome, Setting, Strangeness
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.report import weights_heatmap, write_report
from fewsight.evaluation.results import Evaluation, Summary
from fewsight.evaluation.runner import evaluate
from fewsight.evaluation.shares import learned_shares

__all__ = [
    "METRICS",
    "Draw",
    "Evaluation",
    "Outcome",
    "Protocol",
    "Setting",
    "Strangeness",
    "Summary",
    "evaluate",
    "learned_shares",
    "weights_heatmap",
    "write_report",
]
