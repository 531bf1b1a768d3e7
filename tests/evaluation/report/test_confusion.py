"""Confusions are ordered by their share."""

import numpy as np

from fewsight.evaluation.report.confusion import Confusion


def test_confusions_are_ordered_by_their_share_of_the_true_category():
    confusion = Confusion(np.array([[8, 2, 0], [0, 1, 3], [5, 0, 15]]))
    assert [(pair.truth, pair.predicted, pair.count, pair.total) for pair in confusion.pairs(3)] == [
        (1, 2, 3, 4),
        (2, 0, 5, 20),
        (0, 1, 2, 10),
    ]
    np.testing.assert_array_equal(confusion.recalls, [0.8, 0.25, 0.75])
