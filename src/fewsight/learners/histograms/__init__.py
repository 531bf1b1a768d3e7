"""The parts of the large-scale histogram learner: its input, the choice of its kernel, its answers and its variances."""

from fewsight.learners.histograms.cluster import brought_home, shared_operator
from fewsight.learners.histograms.column_layout import SideBySide
from fewsight.learners.histograms.input import HistogramInput, check_histograms, compares_by_intersection
from fewsight.learners.histograms.left_out_search import balance_of, factors_of
from fewsight.learners.histograms.model_selection import (
    Found,
    KernelSettings,
    TrainingOperator,
    choose_kernel_and_noise,
)
from fewsight.learners.histograms.prediction import HistogramAnswers
from fewsight.learners.histograms.variance import FastVariance, LazyVariance

__all__ = [
    "FastVariance",
    "Found",
    "HistogramAnswers",
    "HistogramInput",
    "KernelSettings",
    "LazyVariance",
    "SideBySide",
    "TrainingOperator",
    "balance_of",
    "brought_home",
    "check_histograms",
    "choose_kernel_and_noise",
    "compares_by_intersection",
    "factors_of",
    "shared_operator",
]
