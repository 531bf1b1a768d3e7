"""Many rankings at once, against scikit-learn's one by one."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from fewsight.metrics import average_precisions, roc_areas

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_positive", [1, 2, 9])
@pytest.mark.parametrize("values", [3, 1_000_000])  # many ties, none
def test_many_rankings_equal_scikit_learns(n_positive, values):
    positive = RNG.permutation(np.arange(20) < n_positive)
    scores = RNG.integers(0, values, size=(3, 20, 4)).astype(float)
    precisions, areas = average_precisions(positive, scores), roc_areas(positive, scores)
    assert precisions.shape == areas.shape == (3, 4)
    for ranking in np.ndindex(3, 4):
        column = scores[ranking[0], :, ranking[1]]
        assert precisions[ranking] == pytest.approx(average_precision_score(positive, column), abs=1e-12)
        assert areas[ranking] == pytest.approx(roc_auc_score(positive, column), abs=1e-12)


def test_one_kind_of_example_only():
    scores = RNG.normal(size=(2, 5, 1))
    np.testing.assert_array_equal(average_precisions(np.ones(5, bool), scores), np.ones((2, 1)))
    np.testing.assert_array_equal(roc_areas(np.ones(5, bool), scores), np.full((2, 1), 0.5))
    np.testing.assert_array_equal(average_precisions(np.zeros(5, bool), scores), np.zeros((2, 1)))
