"""Where things stand, in words."""

from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import Advice


def status_of(**changes):
    known = {
        "counts": {"ant": 3, "bee": 2},
        "n_labelled": 5,
        "n_rest": 1_200,
        "n_skipped": 0,
        "accuracy": None,
        "expected_accuracy": None,
        "advice": Advice(False, "Too early to say."),
    }
    return str(Status(**(known | changes)))


def test_counts_and_advice_are_always_said():
    assert status_of() == "5 labelled (ant: 3, bee: 2), 1,200 left.\nToo early to say."


def test_what_is_known_is_said_and_nothing_else():
    text = status_of(n_skipped=2, accuracy=Accuracy(0.9, 0.8, 0.96, 20), expected_accuracy=0.88)
    assert "2 skipped for now." in text
    assert "By 20 random checks, about 90% (80% to 96%) of the rest are right." in text
    assert "The learner itself expects 88%." in text


def test_before_the_first_label_no_categories_are_listed():
    assert status_of(counts={}, n_labelled=0).startswith("0 labelled, 1,200 left.")


def test_examples_of_none_are_counted_apart():
    status = Status({"ant": 2}, 5, 10, 0, None, None, Advice(False, "Go on."), n_none=3)
    assert str(status).startswith("5 labelled (ant: 2, none of these: 3), 10 left.")
