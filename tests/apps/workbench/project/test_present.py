"""What holds is what the log says: any acts, two persons, batches, undo and redo, in any order of joining files."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewsight.apps.workbench.project.events import (
    Act,
    Clear,
    Discard,
    Event,
    Import,
    Label,
    Loan,
    Merge,
    NewCategory,
    NoneOfThese,
    Question,
    Redo,
    RefuseLoan,
    Relearned,
    Rename,
    Skip,
    Undo,
    folded,
)
from fewsight.apps.workbench.project.present import COOL_DOWN, Choice, Present

IMAGES = [f"{number:040x}" for number in range(12)]


class Log:
    """Events as a project file would number them."""

    def __init__(self, start: int = 1, prefix: str = "r") -> None:
        self.events: list[Event] = []
        self.at, self.prefix = start, prefix

    def say(self, who: str, *acts: Act) -> str:
        request = f"{self.prefix}{self.at}"
        batch = request if len(acts) > 1 else None
        for place, act in enumerate(acts):
            name = f"{request}:{place}" if batch else request
            self.events.append(Event(self.at, who, "s", name, act, batch))
            self.at += 1
        return request

    def now(self) -> Present:
        return Present(self.events)


class Reference:
    """The definition, in the plainest words: every act with a switch, and everything looked up anew."""

    def __init__(self, events: list[Event]) -> None:
        self.acts: dict[str, list[Event]] = {}
        self.on: dict[str, bool] = {}
        for event in sorted(events, key=lambda event: event.at):
            if isinstance(event.act, (Undo, Redo)):
                if event.act.of in self.acts and self.acts[event.act.of][0].who == event.who:
                    self.on[event.act.of] = isinstance(event.act, Redo)
            elif event.act.undoable:
                self.acts.setdefault(event.act_id, []).append(event)
                self.on.setdefault(event.act_id, True)

    def labels(self) -> dict[str, str]:
        rows = [row for act, rows in self.acts.items() for row in rows if self.on[act]]
        rows.sort(key=lambda row: row.at)
        names = {
            row.request: row.act.name for rows in self.acts.values() for row in rows if isinstance(row.act, NewCategory)
        }
        for row in rows:
            if isinstance(row.act, Rename):
                names[row.act.category] = row.act.name
        group = {key: key for key in names}
        for row in rows:
            if isinstance(row.act, Merge):
                old, new = group[row.act.category], group[row.act.into]
                group = {key: new if value == old else value for key, value in group.items()}
        found = {}
        for image in IMAGES:
            last = {
                row.who: row.act for row in rows if getattr(row.act, "image", None) == image and row.act.kind != "skip"
            }
            votes = Counter(
                folded(names[group[act.category]]) if isinstance(act, Label) else act.kind.upper()
                for act in last.values()
                if not isinstance(act, Clear)
            ).most_common()
            if votes and (len(votes) == 1 or votes[0][1] > votes[1][1]) and not votes[0][0].isupper():
                found[image] = votes[0][0]
        return found


def random_acts(rng: random.Random, log: Log, present: Present, who: str) -> list[Act]:
    image, keys = rng.choice(IMAGES), list(present.categories)
    label = [Label(image, rng.choice(keys))] if keys else []
    several = [Label(each, rng.choice(keys)) for each in rng.sample(IMAGES, 3)] if keys else []
    pair = rng.sample(keys, 2) if len(keys) > 1 else None
    undo, redo = present.last_done(who), present.last_undone(who)
    return rng.choice(
        [
            *(label, label, several, [NoneOfThese(image)], [Discard(image)], [Clear(image)], [Skip(image)]),
            [NewCategory(f"name {rng.randrange(6)}")],
            [Import("labels.csv"), NewCategory(f"name {rng.randrange(6)}"), *label],
            [Rename(keys[0], f"new {log.at}")] if keys else [],
            [Merge(*pair)] if pair else [],
            [Loan(*pair)] if pair else [],
            [RefuseLoan(*pair)] if pair else [],
            *([[Undo(undo)]] * 4 if undo else []),
            *([[Redo(redo)]] * 3 if redo else []),
            [Question(image, "uncertainty")],
            [Relearned(f"{log.prefix}1", "ab" * 20, "null")],
        ]
    )


def scripted(seed: int, size: int, start: int = 1, prefix: str = "r") -> tuple[Log, Present]:
    """Random acts of two persons, each added to one present as it happens."""
    rng, log, live = random.Random(seed), Log(start, prefix), Present()
    while len(log.events) < size:
        who, known = rng.choice(["ann", "bob"]), len(log.events)
        acts = random_acts(rng, log, live, who)
        if acts:
            log.say(who, *acts)
            for event in log.events[known:]:
                live.add(event)
    return log, live


def named(present: Present) -> dict[str, str]:
    return {image: folded(present.categories[category]) for image, category in present.labels().items()}


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_what_is_kept_equals_the_replay_of_the_log(seed: int) -> None:
    log, live = scripted(seed, 1000)
    fresh = Present(random.Random(seed).sample(log.events, len(log.events)))  # in whatever order they are read
    for question in ("labels", "ties", "standings", "skipped", "loans", "refused_loans"):
        assert getattr(live, question)() == getattr(fresh, question)()
    assert live.categories == fresh.categories
    for who in ("ann", "bob"):
        assert (live.last_done(who), live.last_undone(who)) == (fresh.last_done(who), fresh.last_undone(who))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 300))
def test_labels_equal_the_definition(seed: int, size: int) -> None:
    log, live = scripted(seed, size)
    assert named(live) == Reference(log.events).labels()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_files_that_were_apart_give_the_same_whichever_is_added_to_the_other(seed: int) -> None:
    common, _ = scripted(seed, 50)
    left, _ = scripted(seed + 1, 50, common.at + 1, "left")
    right, _ = scripted(seed + 2, 50, common.at + 20, "right")
    first, second = (
        Present(common.events + left.events + right.events),
        Present(right.events + left.events + common.events),
    )
    assert first.standings() == second.standings()
    assert first.categories == second.categories


def test_undo_goes_back_to_the_beginning_and_redo_to_the_end() -> None:
    log = Log()
    cat = log.say("ann", NewCategory("cat"))
    log.say("ann", Label(IMAGES[0], cat))
    log.say("ann", Label(IMAGES[1], cat), Label(IMAGES[2], cat))
    log.say("bob", NoneOfThese(IMAGES[3]))
    states = [log.now().standings()]
    while (last := log.now().last_done("ann")) is not None:
        log.say("ann", Undo(last))
        states.append(log.now().standings())
    assert len(states) == 4  # a batch is one act
    assert set(states[-1]) == {IMAGES[3]}  # of another person
    while (last := log.now().last_undone("ann")) is not None:
        log.say("ann", Redo(last))
    assert log.now().standings() == states[0]


def test_a_new_act_ends_what_redo_can_bring_back() -> None:
    log = Log()
    skipped = log.say("ann", Skip(IMAGES[0]))
    log.say("ann", Undo(skipped))
    assert log.now().last_undone("ann") == skipped
    log.say("bob", Skip(IMAGES[1]))
    assert log.now().last_undone("ann") == skipped  # another person's act does not
    log.say("ann", Skip(IMAGES[1]))
    assert log.now().last_undone("ann") is None


def test_nobody_undoes_the_act_of_another_person() -> None:
    log = Log()
    said = log.say("ann", NoneOfThese(IMAGES[0]))
    log.say("bob", Undo(said))
    assert log.now().standings() == {IMAGES[0]: (Choice("none"), {"ann": Choice("none")})}


def test_the_majority_of_persons_holds_and_a_tie_is_listed_not_learned() -> None:
    log = Log()
    cat, dog = log.say("ann", NewCategory("cat")), log.say("ann", NewCategory("dog"))
    log.say("ann", Label(IMAGES[0], cat))
    log.say("bob", Label(IMAGES[0], dog))
    assert log.now().labels() == {}
    assert log.now().ties() == {IMAGES[0]: {"ann": Choice("label", cat), "bob": Choice("label", dog)}}
    log.say("cleo", Label(IMAGES[0], dog))
    assert log.now().labels() == {IMAGES[0]: dog}
    log.say("bob", Clear(IMAGES[0]))
    assert set(log.now().ties()) == {IMAGES[0]}
    log.say("ann", Discard(IMAGES[0]))
    log.say("cleo", Discard(IMAGES[0]))
    standing = log.now().standing(IMAGES[0])
    assert standing is not None
    assert standing.choice == Choice("discard")


def test_renaming_and_merging_leave_labels_where_they_were() -> None:
    log = Log()
    cat, lion = log.say("ann", NewCategory("cat")), log.say("ann", NewCategory("lion"))
    log.say("ann", Label(IMAGES[0], cat))
    log.say("ann", Label(IMAGES[1], lion))
    log.say("ann", Rename(cat, "feline"))
    merged = log.say("ann", Merge(lion, cat))
    assert log.now().labels() == {IMAGES[0]: cat, IMAGES[1]: cat}
    assert log.now().categories == {cat: "feline"}
    log.say("ann", Merge(cat, lion))  # the other way round: they are one already
    assert log.now().labels() == {IMAGES[0]: cat, IMAGES[1]: cat}
    log.say("ann", Undo(log.now().last_done("ann") or ""))
    log.say("ann", Undo(merged))
    assert log.now().labels() == {IMAGES[0]: cat, IMAGES[1]: lion}


def test_categories_of_one_name_from_two_files_are_one() -> None:
    log = Log()
    first, second = log.say("ann", NewCategory("Owl")), log.say("bob", NewCategory("owl"))
    log.say("ann", Label(IMAGES[0], first))
    log.say("bob", Label(IMAGES[0], second))
    assert log.now().labels() == {IMAGES[0]: first}
    assert log.now().categories == {first: "Owl"}
    assert log.now().category_named("OWL") == first


def test_a_category_that_somebody_else_uses_stays_when_it_is_undone() -> None:
    log = Log()
    owl = log.say("ann", NewCategory("owl"))
    log.say("bob", Label(IMAGES[0], owl))
    log.say("ann", Undo(owl))
    assert log.now().categories == {owl: "owl"}
    log.say("bob", Undo(log.now().last_done("bob") or ""))
    assert log.now().categories == {}


def test_a_skipped_image_cools_down() -> None:
    log = Log()
    log.say("ann", Skip(IMAGES[0]))
    assert log.now().skipped() == {IMAGES[0]: COOL_DOWN}
    log.say("ann", NoneOfThese(IMAGES[1]))
    log.say("ann", Discard(IMAGES[2]))
    assert log.now().skipped() == {IMAGES[0]: COOL_DOWN - 2}
    assert log.now().skipped(cool_down=2) == {}
    log.say("bob", NoneOfThese(IMAGES[0]))
    assert log.now().skipped() == {}


def test_none_of_these_from_before_a_category_was_there() -> None:
    log = Log()
    first = log.say("ann", NewCategory("owl"))
    for image in IMAGES[:4]:
        log.say("ann", NoneOfThese(image))
    log.say("ann", Undo(log.say("ann", NoneOfThese(IMAGES[4]))))
    late = log.say("ann", NewCategory("tit"))
    log.say("ann", Label(IMAGES[1], late))
    log.say("ann", NoneOfThese(IMAGES[2]))  # said again, so it was looked at again
    log.say("ann", NoneOfThese(IMAGES[5]))
    log.say("bob", NoneOfThese(IMAGES[3]))
    assert log.now().none_before(late) == [IMAGES[0]]
    assert log.now().none_before(first) == log.now().none_before("gone") == []


def test_loans_are_taken_refused_and_follow_merges() -> None:
    log = Log()
    cat, dog, wolf = (log.say("ann", NewCategory(name)) for name in ("cat", "dog", "wolf"))
    log.say("ann", Loan(cat, dog))
    log.say("ann", Loan(cat, wolf))
    assert log.now().loans() == {cat: wolf}
    log.say("ann", RefuseLoan(cat, wolf))
    assert (log.now().loans(), log.now().refused_loans()) == ({}, {(cat, wolf)})
    log.say("ann", Merge(wolf, dog))
    assert log.now().refused_loans() == {(cat, dog)}


def test_events_are_added_in_their_order_only() -> None:
    log = Log()
    log.say("ann", Skip(IMAGES[0]))
    present = log.now()
    with pytest.raises(ValueError, match="later"):
        present.add(log.events[0])
