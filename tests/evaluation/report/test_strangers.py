"""Which images are shown as strange, and which went unnoticed."""

from dataclasses import replace

import numpy as np
import pytest

from fewsight.evaluation import Strangeness
from fewsight.evaluation.report.strangers import Scores, strangest, unnoticed


def stranger_outcomes(small_evaluation):
    """The same images in two repeats: 4 and 5 held out in the first, known in the second, where the threshold is higher."""
    first = replace(
        small_evaluation.outcomes[0],
        train=np.array([0, 2]),
        test=np.array([1, 3]),
        truth=np.array(["a", "b"], dtype=object),
        predicted=np.array(["a", "b"], dtype=object),
        held_out=np.array([4, 5]),
        taken_for=np.array(["a", "b"], dtype=object),
        strangeness=Strangeness(np.array([0.1, 0.9, 0.7, 0.2]), np.array([False, True, True, False]), 0.5),
    )
    second = replace(
        first,
        held_out=np.array([], dtype=int),
        taken_for=np.array([], dtype=object),
        test=np.array([1, 5]),
        strangeness=Strangeness(np.array([1.1, 1.2]), np.array([False, False]), 2.0),
    )
    return [first, second], np.array(["a", "a", "b", "b", "c", "c"], dtype=object)


def test_images_are_ranked_by_what_is_above_the_threshold_of_their_repeat_and_shown_once(small_evaluation):
    outcomes, labels = stranger_outcomes(small_evaluation)
    found = strangest(outcomes, labels, 9)
    assert [(s.image, s.held_out, s.called_unknown) for s in found] == [
        (3, False, True),
        (4, True, True),
        (5, True, False),
        (1, False, False),
    ]
    assert [s.score for s in found] == pytest.approx([0.4, 0.2, -0.3, -0.4])
    assert (found[0].truth, found[0].taken_for, found[0].example) == ("b", "b", 2)


def test_only_held_out_images_that_were_not_called_unknown_went_unnoticed(small_evaluation):
    outcomes, labels = stranger_outcomes(small_evaluation)
    (missed,) = unnoticed(outcomes, labels, 9)
    assert (missed.image, missed.truth, missed.taken_for) == (5, "c", "b")


def test_where_one_repeat_has_no_threshold_scores_are_compared_as_they_are(small_evaluation):
    outcomes, _ = stranger_outcomes(small_evaluation)
    endless = replace(outcomes[1], strangeness=replace(outcomes[1].strangeness, threshold=np.inf))
    scores = Scores.of([outcomes[0], endless])
    assert not scores.has_threshold
    np.testing.assert_array_equal(scores.known, [0.1, 0.9, 1.1, 1.2])
    np.testing.assert_array_equal(scores.held_out, [0.7, 0.2])
