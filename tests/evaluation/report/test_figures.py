"""Figures of values that are all alike."""

import numpy as np
import pytest

from fewsight.evaluation.report.figures import strangeness


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_scores_that_are_all_alike_can_be_drawn(value):
    alike = np.full(3, value)
    assert "<svg" in strangeness(alike, alike[:1], has_threshold=True)
    assert "<svg" in strangeness(alike, alike[:1], has_threshold=False)
