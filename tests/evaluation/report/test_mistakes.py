"""The surest mistakes come first, and no confusion fills the list."""

from dataclasses import replace

import numpy as np
import pytest

from fewsight.evaluation.report.mistakes import confident_mistakes


def test_the_surest_mistake_comes_first_and_shows_a_training_image_of_the_wrong_answer(small_evaluation):
    labels = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    outcomes = [outcome for outcome in small_evaluation.outcomes if outcome.setting.learner == "near"]
    (mistake,) = confident_mistakes(outcomes, labels, 5)
    assert (mistake.image, mistake.truth, mistake.predicted, mistake.example) == (2, "a", "b", 3)
    assert mistake.confidence == pytest.approx(0.6)


def test_one_confusion_does_not_fill_the_list_of_mistakes(small_evaluation):
    outcome = small_evaluation.outcomes[0]
    labels = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    turned = replace(outcome, predicted=np.array(["b", "b", "a", "a"], dtype=object))
    found = confident_mistakes([turned], labels, 5, alike=1)
    assert [(mistake.truth, mistake.predicted) for mistake in found] == [("a", "b"), ("b", "a")]
