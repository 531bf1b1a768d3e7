"""How good predictions are: accuracy per class, probabilities, calibration, rankings. Numbers in, numbers out."""

from fewsight.metrics.alignment import kernel_alignment
from fewsight.metrics.classification import accuracy_per_class, confusion_matrix, recalls
from fewsight.metrics.many_rankings import average_precisions, roc_areas
from fewsight.metrics.probabilities import ReliabilityBins, calibration_error, log_loss, reliability_bins
from fewsight.metrics.ranking import average_precision, mean_roc_auc, roc_auc

__all__ = [
    "ReliabilityBins",
    "accuracy_per_class",
    "average_precision",
    "average_precisions",
    "calibration_error",
    "confusion_matrix",
    "kernel_alignment",
    "log_loss",
    "mean_roc_auc",
    "recalls",
    "reliability_bins",
    "roc_areas",
    "roc_auc",
]
