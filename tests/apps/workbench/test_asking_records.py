"""Records are a function of what holds: each image once, where it was first spoken of, with what is said today."""

from __future__ import annotations

from fewsight.apps.workbench.asking_records import asking_records, labels_digest
from fewsight.apps.workbench.project import Asked, Event, Present
from fewsight.apps.workbench.project.events import (
    Act,
    Clear,
    Discard,
    Label,
    NewCategory,
    NoneOfThese,
    Relearned,
    Skip,
    Undo,
)

IMAGES = [f"{number:040x}" for number in range(6)]
PLACES = {image: place for place, image in enumerate(IMAGES)}
OWL, TIT = "r0", "r1"


def records(*acts: Act, asked: dict[int, Asked] | None = None, places: dict[str, int] = PLACES):
    start = [NewCategory("owl"), NewCategory("tit")]
    events = [
        Event(n, "ann", "s", f"r{n}", act, asked=(asked or {}).get(n - 2)) for n, act in enumerate([*start, *acts])
    ]
    return asking_records(Present(events), places)


def test_a_correction_stands_where_the_first_answer_stood() -> None:
    found = records(Label(IMAGES[0], OWL), Label(IMAGES[1], TIT), Label(IMAGES[0], TIT)).records
    assert [(each["indices"], each["labels"]) for each in found[1:]] == [([0], ["tit"]), ([1], ["tit"])]


def test_what_was_taken_back_is_gone_and_none_of_these_is_a_label() -> None:
    acts = [Label(IMAGES[0], OWL), Label(IMAGES[1], OWL), Clear(IMAGES[0]), NoneOfThese(IMAGES[2]), Discard(IMAGES[3])]
    found = records(*acts, Skip(IMAGES[4]), Label(IMAGES[5], TIT), Undo("r8")).records
    assert [(each["act"], each["indices"]) for each in found[1:]] == [
        ("label", [1]),
        ("label", [2]),
        ("discard", [3]),
        ("skip", [4]),
    ]
    assert found[2]["labels"] == [{"none": True}]


def test_a_random_check_is_a_question_before_its_answer() -> None:
    asked = {0: Asked("check", 30, 4, {"guess": TIT}), 1: Asked("check", 29, 5, {"called_unknown": True, "guess": OWL})}
    found = records(Label(IMAGES[0], OWL), NoneOfThese(IMAGES[1]), asked=asked).records[1:]
    assert [each["act"] for each in found] == ["question", "label", "question", "label"]
    assert (found[0]["checks"], found[1]["believed"]) == ([[0, 30, 4]], ["tit"])
    assert (found[2]["checks"], found[3]["believed"]) == ([[1, 29, 5]], [{"none": True}])


def test_a_re_learning_counts_while_its_labels_are_the_same() -> None:
    learned = Relearned("r3", labels_digest([(IMAGES[0], OWL), (IMAGES[1], TIT)]), '{"noise": 1}')
    labels = [Label(IMAGES[0], OWL), Label(IMAGES[1], TIT)]
    kept = records(*labels, learned, Label(IMAGES[2], OWL))
    assert (kept.n_learned, kept.records[3]) == (2, {"act": "relearned", "snapshot": 2, "learned": {"noise": 1}})
    assert records(*labels, learned, Label(IMAGES[0], TIT)).n_learned == 0
    assert records(*labels, learned, places={IMAGES[1]: 0}).n_learned == 0  # the first has no features
