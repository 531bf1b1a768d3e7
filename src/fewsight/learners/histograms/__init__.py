"""The parts of the large-scale histogram learner: its input, its posterior, its variances and what is learned beside them."""

from fewsight.learners.histograms.calibrating import calibrate
from fewsight.learners.histograms.cluster import brought_home, training_operator
from fewsight.learners.histograms.column_layout import SideBySide
from fewsight.learners.histograms.folds import columns_to_calibrate, left_out_folds
from fewsight.learners.histograms.input import HistogramInput, check_histograms, compares_by_intersection
from fewsight.learners.histograms.prediction import HistogramAnswers
from fewsight.learners.histograms.settings import Found, balance_of, find
from fewsight.learners.histograms.state import restored, state_of
from fewsight.learners.histograms.validation import options_of, settings_of
from fewsight.learners.histograms.variance import FastVariance, LazyVariance

__all__ = [
    "FastVariance",
    "Found",
    "HistogramAnswers",
    "HistogramInput",
    "LazyVariance",
    "SideBySide",
    "balance_of",
    "brought_home",
    "calibrate",
    "check_histograms",
    "columns_to_calibrate",
    "compares_by_intersection",
    "find",
    "left_out_folds",
    "options_of",
    "restored",
    "settings_of",
    "state_of",
    "training_operator",
]
