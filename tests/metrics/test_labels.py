"""What a metric cannot use is said in one sentence."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.metrics import (
    accuracy_per_class,
    average_precision,
    confusion_matrix,
    log_loss,
    mean_roc_auc,
    reliability_bins,
    roc_auc,
)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: accuracy_per_class([], []), "accuracy_per_class: truth must hold at least one label, got \\[\\]."),
        (
            lambda: accuracy_per_class(["a"], ["a", "a"]),
            "predicted must have one entry for each of the 1 in truth, got 2",
        ),
        (lambda: confusion_matrix(["a"], ["b"], ["a"]), "predicted must hold members of classes only, got 'b'."),
        (lambda: log_loss(["a"], [[0.5]], ["a"]), "each row of probabilities must sum to 1"),
        (lambda: log_loss(["a"], [[1.5, -0.5]], ["a", "b"]), "probabilities must lie between 0 and 1"),
        (lambda: log_loss(["a"], [[0.5, 0.5]], ["a"]), "probabilities must be a matrix of 1 x 1, got 1 x 2."),
        (lambda: log_loss(["a"], [[np.nan, 0.5]], ["a", "b"]), "finite"),
        (lambda: average_precision([0, 0], [1, 2]), "at least one positive example, got none."),
        (lambda: roc_auc([1, 1], [1, 2]), "positive and negative examples, got only one kind."),
        (lambda: roc_auc([1, 0], [1, np.inf]), "scores must hold finite numbers only"),
        (lambda: roc_auc(["a", "b"], [1, 2]), "positive must hold booleans"),
        (lambda: mean_roc_auc(["a"], [[1.0]], ["a"]), "at least two classes, got one."),
        (lambda: reliability_bins(["a"], [[1.0]], ["a"], n_bins=0), "n_bins must be a whole number >= 1, got 0."),
    ],
)
def test_what_a_metric_cannot_use_is_said_in_a_sentence(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()
