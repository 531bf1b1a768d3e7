"""From events to what holds now: labels, categories, what undo would take back. Pure: no file, no clock.

Undo and redo switch acts off and on. An image has the last act of each person that is on; where persons differ, the
majority holds, and a tie is not learned. Events are taken in the order of their time, so that the events of two files give the
same whichever is added to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, final

from fewsight.apps.workbench.project.events import (
    Act,
    Clear,
    Discard,
    Event,
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

COOL_DOWN = 20  # answers and skips after which a skipped image may be asked about again


class Choice(NamedTuple):
    """What is said about an image: label (with a category), none or discard."""

    kind: str
    category: str | None = None


class Standing(NamedTuple):
    """What holds for an image: the choice of the majority, or None in a tie; and the choice of each person."""

    choice: Choice | None
    votes: dict[str, Choice]


@dataclass
class _Stacks:
    """Acts of a person that undo and redo would reach, the last at the end."""

    done: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)


@final
class Present:
    """What holds after some events. More may be added, each later than all before."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events: list[Event] = []
        self.questions: list[Event] = []
        self.relearned: list[Event] = []
        self._on: dict[str, bool] = {}  # by act
        self._by: dict[str, str] = {}  # person, by act
        self._rows: dict[str, list[Event]] = {}  # by act
        self._said: dict[str, list[Event]] = {}  # by image
        self._answers: list[Event] = []
        self._put_off: set[str] = set()  # images that were ever skipped
        self._about_categories: list[Event] = []
        self._stacks: dict[str, _Stacks] = {}
        self._categories: _Categories | None = None
        self._standings: dict[str, Standing] = {}
        self._unsettled: set[str] = set()  # images whose standing is to be worked out again
        for event in sorted(events, key=lambda event: event.order):
            self.add(event)

    def add(self, event: Event) -> None:
        """One more event; it must be later than all before."""
        if self.events and event.order <= self.events[-1].order:
            raise ValueError("an event must be later than those before it")
        self.events.append(event)
        if isinstance(event.act, Question):
            self.questions.append(event)
        elif isinstance(event.act, Relearned):
            self.relearned.append(event)
        elif isinstance(event.act, (Undo, Redo)):
            self._switch(event.who, event.act.of, isinstance(event.act, Redo))
        else:
            self._take(event)

    def __len__(self) -> int:
        return len(self.events)

    # Images.

    def standing(self, image: str) -> Standing | None:
        """What holds for an image; None where nobody says anything."""
        self._settle()
        return self._standings.get(image)

    def _settle(self) -> None:
        while self._unsettled:
            image = self._unsettled.pop()
            found = self._standing(image)
            if found is None:
                self._standings.pop(image, None)
            else:
                self._standings[image] = found

    def _standing(self, image: str) -> Standing | None:
        votes: dict[str, Choice] = {}
        for event in self._said.get(image, ()):
            if self._on[event.act_id]:
                votes.pop(event.who, None)
                choice = self._choice(event.act)
                if choice is not None:
                    votes[event.who] = choice
        return Standing(_majority(votes), votes) if votes else None

    def was_answered(self, image: str) -> bool:
        """Whether anybody ever said something about an image, or skipped it."""
        return image in self._said or image in self._put_off

    def standings(self) -> dict[str, Standing]:
        """What holds for every image that somebody said something about."""
        self._settle()
        return dict(self._standings)

    def labels(self) -> dict[str, str]:
        """The category of each labelled image, by hash."""
        decided = ((image, standing.choice) for image, standing in self.standings().items())
        return {
            image: choice.category for image, choice in decided if choice is not None and choice.category is not None
        }

    def label_events(self) -> dict[str, tuple[str, Event]]:
        """The category of each labelled image, and the last event that gave it."""
        found: dict[str, tuple[str, Event]] = {}
        for image, category in self.labels().items():
            for event in self._said[image]:
                if self._on[event.act_id] and self._choice(event.act) == Choice("label", category):
                    found[image] = category, event
        return found

    def none_before(self, category: str) -> list[str]:
        """The images of none of these about which nobody said so since the category is there."""
        made = next((event.order for event in self._about_categories if event.request == category), None)
        if made is None:
            return []
        none = [image for image, each in self.standings().items() if each.choice == Choice("none")]
        return [
            image for image in none if all(event.order < made for event in self._said[image] if self._on[event.act_id])
        ]

    def ties(self) -> dict[str, dict[str, Choice]]:
        """The images that persons disagree about, with the choice of each; these are not learned."""
        return {image: standing.votes for image, standing in self.standings().items() if standing.choice is None}

    def skipped(self, cool_down: int = COOL_DOWN) -> dict[str, int]:
        """Images that were skipped and still cool down, and for how many more answers and skips."""
        until: dict[str, int] = {}
        turn = 0
        for event in self._answers:
            if self._on[event.act_id]:
                turn += 1
                until.pop(_image_of(event.act), None)
                if isinstance(event.act, Skip):
                    until[event.act.image] = turn + cool_down
        return {image: back - turn for image, back in until.items() if back > turn and self.standing(image) is None}

    # Categories.

    @property
    def categories(self) -> dict[str, str]:
        """The names of the categories, by id, the oldest first; without those that were merged into others."""
        return self._resolved().names

    def category_named(self, name: str) -> str | None:
        """The id of the category with this name, whatever its case."""
        wanted = folded(name)
        return next((key for key, known in self.categories.items() if folded(known) == wanted), None)

    def category(self, key: str) -> str:
        """The id of the category that this one was merged into, or its own."""
        return self._resolved().root(key)

    def loans(self) -> dict[str, str]:
        """Which category borrows from which."""
        return {borrower: lender for (borrower, lender), taken in self._loans().items() if taken}

    def refused_loans(self) -> set[tuple[str, str]]:
        """Borrowers and lenders that a person does not want together."""
        return {pair for pair, taken in self._loans().items() if not taken}

    # Undo.

    def last_done(self, who: str) -> str | None:
        """The act that undo would take back."""
        stacks = self._stacks.get(who)
        return stacks.done[-1] if stacks and stacks.done else None

    def last_undone(self, who: str) -> str | None:
        """The act that redo would bring back."""
        stacks = self._stacks.get(who)
        return stacks.undone[-1] if stacks and stacks.undone else None

    def is_on(self, act_id: str) -> bool:
        """Whether an act counts: it was not undone."""
        return self._on.get(act_id, False)

    def rows_of(self, act_id: str) -> list[Event]:
        """The events of an act: one, or those of a batch."""
        return list(self._rows.get(act_id, ()))

    # Inside.

    def _take(self, event: Event) -> None:
        act_id, act = event.act_id, event.act
        if act_id not in self._on:
            self._on[act_id], self._by[act_id] = True, event.who
            stacks = self._stacks.setdefault(event.who, _Stacks())
            stacks.done.append(act_id)
            stacks.undone.clear()
        self._rows.setdefault(act_id, []).append(event)
        if isinstance(act, (Label, NoneOfThese, Discard, Clear)):
            self._said.setdefault(act.image, []).append(event)
            self._unsettled.add(act.image)
        if isinstance(act, (Label, NoneOfThese, Discard, Skip)):
            self._answers.append(event)
            self._put_off.update([act.image] if isinstance(act, Skip) else [])
        if isinstance(act, (NewCategory, Rename, Merge, Loan, RefuseLoan)):
            self._about_categories.append(event)
            self._forget_categories()
        elif self._categories and isinstance(act, Label) and not self._categories.knows(act.category):
            self._forget_categories()

    def _switch(self, who: str, act_id: str, on: bool) -> None:
        """Persons undo their own acts only."""
        if self._by.get(act_id) != who or self._on[act_id] == on:
            return
        self._on[act_id] = on
        stacks = self._stacks[who]
        source, target = (stacks.undone, stacks.done) if on else (stacks.done, stacks.undone)
        if act_id in source:
            source.remove(act_id)
        target.append(act_id)
        self._unsettled.update(_image_of(event.act) for event in self._rows[act_id])
        self._forget_categories()

    def _forget_categories(self) -> None:
        """They are worked out again when they are asked for. A label may then mean another category than before."""
        if self._categories is None:
            return
        before, self._categories = self._categories, None
        if self._resolved().merged != before.merged:
            self._unsettled.update(self._said)

    def _choice(self, act: Act) -> Choice | None:
        if isinstance(act, Label):
            return Choice(act.kind, self.category(act.category))
        return None if isinstance(act, Clear) else Choice(act.kind)

    def _resolved(self) -> _Categories:
        if self._categories is None:
            self._categories = _Categories(self._category_acts(True), self._category_acts(False), self._used())
        return self._categories

    def _category_acts(self, on: bool) -> Iterator[Event]:
        return (event for event in self._about_categories if self._on[event.act_id] == on)

    def _used(self) -> set[str]:
        """Categories of labels and merges that are on: they stay, even if the act that made them was undone."""
        rows = (event for said in self._said.values() for event in said if self._on[event.act_id])
        labelled = {event.act.category for event in rows if isinstance(event.act, Label)}
        return labelled | {event.act.into for event in self._category_acts(True) if isinstance(event.act, Merge)}

    def _loans(self) -> dict[tuple[str, str], bool]:
        """The last word on each pair; a new lender takes the place of the one before."""
        found: dict[tuple[str, str], bool] = {}
        for event in self._category_acts(True):
            if isinstance(event.act, (Loan, RefuseLoan)):
                pair = self.category(event.act.category), self.category(event.act.lender)
                if isinstance(event.act, Loan):
                    found = {known: taken for known, taken in found.items() if known[0] != pair[0] or not taken}
                found[pair] = isinstance(event.act, Loan)
        return {pair: taken for pair, taken in found.items() if pair[0] != pair[1]}


@final
class _Categories:
    """Names and merges, resolved. Categories of one name, which two files may bring, are one: the older."""

    def __init__(self, on: Iterable[Event], off: Iterable[Event], used: set[str]) -> None:
        self._into: dict[str, str] = {}
        acts = sorted([*on, *_made_but_used(off, used)], key=lambda event: event.order)
        names = {event.request: event.act.name for event in acts if isinstance(event.act, NewCategory)}
        names |= {key: key for key in sorted(used - set(names))}  # a label whose category is not in the file
        for event in acts:
            if isinstance(event.act, Rename) and event.act.category in names:
                names[event.act.category] = event.act.name
            elif isinstance(event.act, Merge):
                self._merge(event.act.category, event.act.into)
        older: dict[str, str] = {}
        for key in [key for key in names if key not in self._into]:
            self._merge(key, older.setdefault(folded(names[key]), key))
        self.names = {key: name for key, name in names.items() if key not in self._into}
        self.merged = {key: self.root(key) for key in self._into}

    def knows(self, key: str) -> bool:
        return key in self.names or key in self._into

    def root(self, key: str) -> str:
        while key in self._into:
            key = self._into[key]
        return key

    def _merge(self, key: str, into: str) -> None:
        key, into = self.root(key), self.root(into)
        if key != into:
            self._into[key] = into


def _made_but_used(off: Iterable[Event], used: set[str]) -> list[Event]:
    return [event for event in off if isinstance(event.act, NewCategory) and event.request in used]


def _image_of(act: Act) -> str:
    return act.image if isinstance(act, (Label, NoneOfThese, Discard, Skip, Clear)) else ""


def _majority(votes: dict[str, Choice]) -> Choice | None:
    """The choice that more persons made than any other, if there is one."""
    ranked = Counter(votes.values()).most_common(2)
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else None
