"""Whether the right ones come first: average precision and the area under the ROC curve, as scikit-learn defines them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.metrics.labels import Labels, check_same_length, check_scores, positions


def average_precision(positive: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Mean precision at the rank of each positive example, best score first; needs a positive."""
    chosen, values = _binary("average_precision", positive, scores)
    if not chosen.any():
        raise InvalidInput("average_precision: positive must hold at least one positive example, got none.")
    return float(average_precision_score(chosen, values))


def roc_auc(positive: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """The probability that a positive example scores above a negative one (ties count half); needs both kinds."""
    chosen, values = _binary("roc_auc", positive, scores)
    if chosen.all() or not chosen.any():
        raise InvalidInput("roc_auc: positive must hold positive and negative examples, got only one kind.")
    return float(roc_auc_score(chosen, values))


def mean_roc_auc(truth: Labels, scores: npt.ArrayLike, classes: Labels) -> float:
    """The mean over classes of `roc_auc` of that class against the rest; a class that has no rest, or is absent, is left out."""
    columns = positions("mean_roc_auc", "truth", truth, classes)
    matrix = check_scores("mean_roc_auc", "scores", scores, len(columns), len(classes))
    counts = np.bincount(columns, minlength=len(classes))
    usable = np.flatnonzero((counts > 0) & (counts < len(columns)))
    if not len(usable):
        raise InvalidInput("mean_roc_auc: truth must hold at least two classes, got one.")
    return float(np.mean([roc_auc(columns == index, matrix[:, index]) for index in usable]))


def _binary(owner: str, positive: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[npt.NDArray[np.bool_], Array]:
    chosen = np.asarray(positive).ravel()
    if not np.isin(chosen, (0, 1)).all():
        raise InvalidInput(f"{owner}: positive must hold booleans, got {chosen.dtype} values.")
    values = np.asarray(scores, dtype=np.float64).ravel()
    check_same_length(owner, "positive", len(chosen), "scores", len(values))
    if not np.isfinite(values).all():
        raise InvalidInput(f"{owner}: scores must hold finite numbers only, got NaN or infinity.")
    return chosen.astype(bool), values
