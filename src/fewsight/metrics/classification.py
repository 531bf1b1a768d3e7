"""What was taken for what. Everything here is read off the confusion matrix."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight.metrics.labels import Labels, as_sequence, check_same_length, positions


def confusion_matrix(truth: Labels, predicted: Labels, classes: Labels) -> npt.NDArray[np.intp]:
    """How often each class (row) was taken for each class (column)."""
    rows = positions("confusion_matrix", "truth", truth, classes)
    columns = positions("confusion_matrix", "predicted", predicted, classes)
    check_same_length("confusion_matrix", "truth", len(rows), "predicted", len(columns))
    n_classes = len(classes)
    counts = np.bincount(rows * n_classes + columns, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes).astype(np.intp)


def recalls(truth: Labels, predicted: Labels, classes: Labels) -> npt.NDArray[np.float64]:
    """For each class, the share of its examples that were recognised; NaN for a class without any."""
    counts = confusion_matrix(truth, predicted, classes)
    totals = counts.sum(axis=1)
    return np.where(totals > 0, counts.diagonal() / np.maximum(totals, 1), np.nan)


def accuracy_per_class(truth: Labels, predicted: Labels) -> float:
    """The mean of the recalls over the classes in `truth`: every class counts the same, whatever its size.

    This is the accuracy that the papers report. [Kapoor2010, section 8]
    """
    seen = dict.fromkeys(as_sequence("accuracy_per_class", "truth", truth))
    guessed = dict.fromkeys(as_sequence("accuracy_per_class", "predicted", predicted))
    return float(np.nanmean(recalls(truth, predicted, [*seen, *(label for label in guessed if label not in seen)])))
