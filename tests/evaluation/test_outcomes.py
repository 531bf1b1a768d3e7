"""Metrics of one draw, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fewsight.evaluation import Strangeness


def record(evaluation, learner, metric):
    (found,) = [r for r in evaluation.records() if (r["learner"], r["metric"]) == (learner, metric)]
    return found


def test_log_loss_by_hand(small_evaluation):
    first, second = record(small_evaluation, "near", "log_loss")["values"]
    assert first == pytest.approx(-sum(map(math.log, (0.8, 0.4, 0.9, 0.7))) / 4, rel=1e-6)
    assert second == 0.0


def test_calibration_error_and_roc_auc_by_hand(small_evaluation):
    # Four answers in four bins: 0.8, 0.9 and 0.7 were right, 0.6 was not.
    assert record(small_evaluation, "near", "calibration_error")["values"][0] == pytest.approx(
        (0.2 + 0.1 + 0.3 + 0.6) / 4, rel=1e-6
    )
    assert record(small_evaluation, "near", "roc_auc")["values"] == [1.0, 1.0]


def test_unknown_metrics_by_hand(small_evaluation):
    # Four known images, then three of a held-out class. Of the 12 pairs, the unknown one is stranger in 6, and one is a tie.
    said = Strangeness(
        scores=np.array([0.1, 0.2, 0.6, 0.4, 0.6, 0.3, 0.15]),
        called_unknown=np.array([False, False, True, False, True, False, False]),
        threshold=0.5,
    )
    outcome = replace(
        small_evaluation.outcomes[0],
        held_out=np.array([6, 7, 8]),
        taken_for=np.array(["a", "a", "b"], dtype=object),
        strangeness=said,
    )
    assert outcome.metrics["unknown_auroc"] == pytest.approx((3 + 0.5 + 2 + 1) / 12)
    assert outcome.metrics["false_alarm_rate"] == pytest.approx(1 / 4)
    assert outcome.metrics["found_rate"] == pytest.approx(1 / 3)
    assert outcome.metrics["accuracy"] == small_evaluation.outcomes[0].metrics["accuracy"]


def test_without_held_out_classes_only_false_alarms_are_counted(small_evaluation):
    said = Strangeness(np.array([0.1, 0.9, 0.2, 0.3]), np.array([False, True, False, False]), threshold=0.5)
    found = replace(small_evaluation.outcomes[0], strangeness=said).metrics
    assert found["false_alarm_rate"] == 0.25
    assert not {"unknown_auroc", "found_rate"} & set(found)
