"""What holds, counted once for each event."""

from __future__ import annotations

from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.project import Event, Present
from fewsight.apps.workbench.project.events import Act, Discard, Label, NewCategory, NoneOfThese, Skip, Undo

IMAGES = [f"{number:040x}" for number in range(5)]


def present(*acts: Act) -> Present:
    return Present([Event(n, "ann", "s", f"r{n}", act) for n, act in enumerate(acts)])


def test_counts_follow_from_the_acts_that_are_on() -> None:
    acts = [
        NewCategory("owl"),
        *(Label(image, "r0") for image in IMAGES[:2]),
        NoneOfThese(IMAGES[2]),
        Discard(IMAGES[3]),
    ]
    facts = Facts.of(present(*acts, Skip(IMAGES[4])), "ann")
    assert (facts.n_labelled, facts.counts, facts.kinds["none"], facts.kinds["discard"]) == (2, {"r0": 2}, 1, 1)
    assert facts.skipped.keys() == {IMAGES[4]}
    assert facts.is_discarded(IMAGES[3])
    assert not facts.is_discarded(IMAGES[0])
    assert (facts.can_undo, facts.can_redo) == (True, False)
    undone = Facts.of(present(*acts[:2], Undo("r1")), "ann")
    assert (undone.n_labelled, undone.can_redo) == (0, True)
    assert not Facts.of(present(*acts), "bob").can_undo


def test_nothing_was_said_yet() -> None:
    facts = Facts.of(Present(), None)
    assert (facts.n_labelled, facts.counts, facts.can_undo) == (0, {}, False)
