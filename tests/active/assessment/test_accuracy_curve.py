"""Accuracy over labels, and what a wished accuracy would take."""

import numpy as np
import pytest
from scipy.stats import beta

from fewsight.active import ActiveLearner
from fewsight.active.assessment.accuracy_curve import FEWEST, Forecast, accuracy_curve, next_mark
from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.stopping import AHEAD, STOP_BELOW
from fewsight.active.history import Check
from fewsight.learners import GPClassifier


def checks(n):
    return [Check(place, 500 - 5 * place, 5 * place) for place in range(n)]


def test_a_point_is_the_share_of_right_ones_among_the_last_checks():
    right = [False] * 10 + [True] * 20
    found = accuracy_curve(checks(30), right)
    labels, last = found[-1]
    assert (labels, last.estimate, last.high, last.n_audits) == (98, 1.0, 1.0, 20)  # checks 10 to 29: 97.5 labels
    assert [n for n, _ in found] == sorted({n for n, _ in found})
    assert 1 < len(found) <= 12
    assert found[0][1].estimate == 0.0
    assert all(each.low <= each.estimate <= each.high for _, each in found)


def test_the_interval_is_that_of_a_share_of_equal_checks():
    (_, found), *_ = accuracy_curve(checks(FEWEST), [True] * 6 + [False] * 2)
    assert found.estimate == 0.75
    without_limits = beta.ppf([0.05, 0.95], 6.5, 2.5)
    assert found.low < without_limits[0]  # wider, as so few checks say little about their own spread
    assert found.high > without_limits[1] - 0.01


def test_a_handful_of_checks_is_no_curve():
    assert accuracy_curve(checks(FEWEST - 1), [True] * (FEWEST - 1)) == []


@pytest.mark.parametrize(
    ("share", "mark"), [(0.2, 0.5), (0.5, 0.6), (0.895, 0.95), (0.94, 0.95), (0.985, None), (1.0, None)]
)
def test_the_next_mark_lies_a_little_above(share, mark):
    assert next_mark(share) == mark


def test_a_forecast_grows_as_the_logarithm_of_the_labels():
    forecast = Forecast(gain=0.1, ahead=100, n_labelled=100, n_rest=1_000)
    assert forecast.answers_to_gain(0.1) == 100
    assert forecast.answers_to_gain(0.2) == 300  # another doubling
    assert forecast.answers_to_gain(0.25) is None  # further than three times what there is
    assert Forecast(0.1, 100, 100, 250).answers_to_gain(0.2) is None  # more than the rest holds


def test_labelling_is_enough_where_the_next_answers_gain_as_little_as_the_advice_to_stop_says():
    forecast = Forecast(gain=0.01, ahead=AHEAD, n_labelled=100, n_rest=10_000)
    n = 100 + forecast.answers_to_stop()
    rate = 0.01 / np.log(2)
    assert rate * np.log1p(AHEAD / (n - 1)) > STOP_BELOW > rate * np.log1p(AHEAD / (n + 1))


def test_a_learner_has_a_curve_that_ends_with_its_accuracy_of_now(digits, digit_gram):
    truth = digits[1][:300]
    active = ActiveLearner(GPClassifier("precomputed", noise_variance=0.01), random_state=1).fit(digit_gram[:300, :300])
    assert active.accuracy_curve() == []
    for _ in range(80):
        query = active.query()
        active.teach(query.indices, truth[query.indices])
    curve = active.accuracy_curve()
    assert curve[-1] == (80, active.accuracy())
    assert len(curve) > 2
    assert curve[0][1].estimate < curve[-1][1].estimate
    again = ActiveLearner(GPClassifier("precomputed", noise_variance=0.01), random_state=1)
    assert again.rebuild(digit_gram[:300, :300], active.records_).accuracy_curve() == curve
    assert isinstance(curve[0][1], Accuracy)
