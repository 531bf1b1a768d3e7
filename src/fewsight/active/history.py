"""Everything that happened while labels were asked for, as an ordered list of plain records.

Learner, schedule, random checks, advice and undo are what replaying the records gives: the same records give the same next
question, whether the run was ever interrupted or not. A record is a dictionary that JSON can hold:

    {"act": "start", "indices": [...], "labels": [...], "excluded": [...]}      what was known at the beginning
    {"act": "question", "indices": [...], "checks": [[position, drawn from, labels then], ...]}
    {"act": "label", "indices": [...], "labels": [...], "believed": [...]}      what each was taken for before its label came
    {"act": "skip", "indices": [...]}
    {"act": "discard", "indices": [...]}                                        never asked about again, no part of the rest
    {"act": "correct", "indices": [position], "labels": [label]}
    {"act": "forget", "indices": [...]}                                         their labels no longer count
    {"act": "borrow", "labels": [category, lender], "rho": correlation}         until it is given back
    {"act": "give_back", "labels": [category]}
    {"act": "undo"}, {"act": "redo"}
    {"act": "grow", "size": examples of the pool from now on}                   never undone
    {"act": "relearned", "snapshot": number of the last act it learned from, "learned": {...} or None}

The label of an example that belongs to no category is {"none": true}; what was called unknown was believed to be that. The checks
of a question are its own and those that another page still holds. Acts are on until they are undone. Undo takes back the last
label, skip, discard, correction, forgetting or loan that is on, and redo the last undo, until something else is done. What was
learned at intervals holds as long as all acts of its snapshot are on; the last such re-learning counts, so that noise, weights
and calibration come back with an undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE, NoneOfThese
from fewsight.active.views.labelled import Answer, Label, Labelled
from fewsight.learners import Loan

Plain = str | int | float | bool | None | Sequence["Plain"] | Mapping[str, "Plain"]
Record = dict[str, Plain]


GIVE_LABELS = ("start", "label")
CHANGE_LABELS = (*GIVE_LABELS, "correct", "forget")
LISTED = ("indices", "labels", "believed", "excluded", "checks")  # fields of a record that are lists


class Check(NamedTuple):
    """A random check: where it stands, from how many it was drawn, and how many labels there were then."""

    position: int
    n_drawn_from: int
    n_labelled: int


@final
@dataclass(frozen=True, slots=True)
class Act:
    """Something that happened. Fields that a kind of act does not have are empty."""

    kind: str
    indices: tuple[int, ...] = ()
    labels: tuple[Answer, ...] = ()
    believed: tuple[Answer | None, ...] = ()
    excluded: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    snapshot: int = -1
    size: int = 0
    rho: float = 0.0
    learned: Mapping[str, Plain] | None = None

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "start": ("indices", "labels", "excluded"),
        "question": ("indices", "checks"),
        "label": ("indices", "labels", "believed"),
        "skip": ("indices",),
        "discard": ("indices",),
        "correct": ("indices", "labels"),
        "forget": ("indices",),
        "borrow": ("labels", "rho"),
        "give_back": ("labels",),
        "undo": (),
        "redo": (),
        "grow": ("size",),
        "relearned": ("snapshot", "learned"),
    }
    UNDOABLE: ClassVar[frozenset[str]] = frozenset(
        {"label", "skip", "discard", "correct", "forget", "borrow", "give_back"}
    )

    def record(self) -> Record:
        """As JSON can hold it."""
        return {"act": self.kind, **{name: _plain(getattr(self, name)) for name in self.FIELDS[self.kind]}}

    @classmethod
    def from_record(cls, record: Mapping[str, Plain]) -> Self:
        kind = record.get("act") if isinstance(record, Mapping) else None
        if not isinstance(kind, str) or kind not in cls.FIELDS:
            known = ", ".join(cls.FIELDS)
            raise InvalidInput(
                f"records: each must be a dictionary whose 'act' is one of {known}, got {shown(record)}."
            )
        missing = [name for name in cls.FIELDS[kind] if name not in record and name != "learned"]
        if missing:
            raise InvalidInput(
                f"records: {kind!r} must have {', '.join(map(repr, missing))}, got {shown(dict(record))}."
            )
        fields: dict[str, Any] = {name: record.get(name) for name in cls.FIELDS[kind]}
        wrong = [name for name in LISTED if name in fields and not isinstance(fields[name], (list, tuple))]
        if wrong:
            raise InvalidInput(f"records: {wrong[0]} of {kind!r} must be a list, got {shown(fields[wrong[0]])}.")
        if kind in (*GIVE_LABELS, "correct") and len(fields["indices"]) != len(fields["labels"]):
            raise InvalidInput(
                f"records: {kind!r} must have a label for each of {len(fields['indices'])} examples, got {len(fields['labels'])}."
            )
        if "checks" in fields:
            fields["checks"] = [Check(*numbers) for numbers in fields["checks"]]
        for name, value in fields.items():
            fields[name] = tuple(map(_label_of, value)) if isinstance(value, list) else value
        return cls(kind, **fields)


@final
class History:
    """Acts in the order in which they happened, and which of them are on. Its memory is linear in their number."""

    def __init__(self, records: Sequence[Mapping[str, Plain]] = ()) -> None:
        self.acts: list[Act] = []
        self._on: list[int] = []  # a stack: what stands below an act never changes while it is on
        self._undone: list[int] = []
        self._carried: dict[
            int, tuple[Check, ...]
        ] = {}  # number of an undo -> checks of the questions that went with it
        for record in records:
            self.add(Act.from_record(record))

    def add(self, act: Act) -> None:
        """The next act."""
        if not self.acts and act.kind != "start":
            raise InvalidInput(f"records: the first must be the start, got {act.kind!r}.")
        if (act.kind == "undo" and not self.can_undo) or (act.kind == "redo" and not self.can_redo):
            raise InvalidInput(f"records: there must be something to {act.kind} before {act.kind!r}, got nothing.")
        number = len(self.acts)
        self.acts.append(act)
        if act.kind == "undo":
            self._undo(number)
        elif act.kind == "redo":
            self._on.append(self._undone.pop())
        elif act.kind not in ("relearned", "grow"):
            self._on.append(number)
            self._undone = [] if act.kind in Act.UNDOABLE else self._undone

    def _undo(self, number: int) -> None:
        """Questions that were put after the act go with it; their checks were drawn all the same, and may yet be answered."""
        checks: tuple[Check, ...] = ()
        while self.acts[self._on[-1]].kind not in Act.UNDOABLE:
            gone = self._on.pop()
            checks += self._carried.get(gone, self.acts[gone].checks)
        self._undone.append(self._on.pop())
        if checks:
            self._carried[number] = checks
            self._on.append(number)

    @property
    def can_undo(self) -> bool:
        return any(self.acts[number].kind in Act.UNDOABLE for number in reversed(self._on))

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    @property
    def last(self) -> Act:
        """The last act that is on."""
        return self.acts[self._on[-1]]

    @property
    def last_undone(self) -> Act:
        """What `redo` would bring back."""
        return self.acts[self._undone[-1]]

    def place_of(self, number: int) -> int | None:
        """Where the act of this number stands among those that are on; None if it is not."""
        return self._on.index(number) if number in self._on else None

    def check_of(self, position: int) -> Check | None:
        """The random check that the last question about this example was; None if a rule chose it."""
        for act in reversed(self.acts):
            if act.kind == "question" and position in act.indices:
                return next((check for check in act.checks if check.position == position), None)
        return None

    def on(self) -> list[Act]:
        """The acts that are on, in order; an undo is among them where checks of questions that went with it are open."""
        return [
            Act("undo", checks=self._carried[number]) if number in self._carried else self.acts[number]
            for number in self._on
        ]

    def moments(self, most: int = 1) -> list[Moment]:
        """The last states of learning: after each act that added labels, and what came before the next such act."""
        ends = [place for place, number in enumerate(self._on) if self.acts[number].kind == "label"]
        ends = [*(ends if self.acts[0].indices else ends[1:]), len(self._on)][-most:]
        where = {number: place for place, number in enumerate(self._on)}
        learned = [number for number, act in enumerate(self.acts) if act.kind == "relearned" and act.snapshot in where]
        return [self._moment(end, where, learned) for end in ends]

    def _moment(self, end: int, where: Mapping[int, int], learned: Sequence[int]) -> Moment:
        next_act = self._on[end] if end < len(self._on) else len(self.acts)
        known = [number for number in learned if number < next_act and where[self.acts[number].snapshot] < end]
        last = max(known, key=lambda number: (where[self.acts[number].snapshot], number), default=-1)
        changed = next(n for n in reversed(self._on[:end]) if self.acts[n].kind in CHANGE_LABELS)
        learned_from = where[self.acts[last].snapshot] + 1 if last >= 0 else 0
        n_learned = sum(place < learned_from for _, place in self._given(end)[0].values()) if learned_from else 0
        return Moment(end, (changed, last), learned_from, n_learned, self.acts[last] if last >= 0 else None)

    def labelled(self, end: int | None = None) -> Labelled:
        """The labels of the first acts that are on; classes in the order in which they came, those of the start sorted."""
        given, classes = self._given(end)
        return Labelled(list(given), [label for label, _ in given.values()], classes)

    def loans(self, end: int | None = None) -> dict[Label, Loan]:
        """What each category borrows after the first acts that are on; a loan rests while either has no label."""
        made: dict[Answer, Loan] = {}
        for act in map(self.acts.__getitem__, self._on[:end]):
            if act.kind == "borrow" and not isinstance(act.labels[1], NoneOfThese):
                made[act.labels[0]] = Loan(act.labels[1], act.rho)
            elif act.kind == "give_back":
                made.pop(act.labels[0], None)
        classes = self._given(end)[1] if made else []
        return {name: made[name] for name in classes if name in made and made[name].lender in classes}

    def after(self, n: int, end: int | None = None) -> list[tuple[list[int], list[Answer]]]:
        """All but the first n labels of the first acts that are on, those that were given at once together."""
        together: dict[int, tuple[list[int], list[Answer]]] = {}
        for position, (label, place) in list(self._given(end)[0].items())[n:]:
            positions, labels = together.setdefault(place, ([], []))
            positions.append(position)
            labels.append(label)
        return list(together.values())

    def _given(self, end: int | None) -> tuple[dict[int, tuple[Answer, int]], list[Label]]:
        """By position, the label and the place of the act that first gave one, in that order; and the classes."""
        given: dict[int, tuple[Answer, int]] = {}
        classes: list[Label] = []
        for place, number in enumerate(self._on[:end]):
            act = self.acts[number]
            if act.kind in GIVE_LABELS:
                given |= {position: (label, place) for position, label in zip(act.indices, act.labels, strict=True)}
                named = dict.fromkeys(label for label in act.labels if not isinstance(label, NoneOfThese))
                classes += [
                    label for label in (sorted(named) if act.kind == "start" else named) if label not in classes
                ]
            elif act.kind in CHANGE_LABELS:
                if act.kind == "correct":
                    given[act.indices[0]] = (act.labels[0], given[act.indices[0]][1])
                else:
                    given = {position: known for position, known in given.items() if position not in act.indices}
                left = dict.fromkeys(label for label, _ in given.values() if not isinstance(label, NoneOfThese))
                classes = [known for known in classes if known in left]
                classes += [label for label in left if label not in classes]
        return given, classes


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """A state of learning.

    end : how many of the acts that are on it knows.
    key : the numbers of the last act that changed labels, which a re-learning names as its snapshot, and of the re-learning in
        force; -1 without one.
    learned_from, n_learned : how many of the acts that are on the re-learning knew, and how many of its labels still count: the
        first ones.
    """

    end: int
    key: tuple[int, int]
    learned_from: int
    n_learned: int
    relearned: Act | None


NONE: Record = {"none": True}  # as no label that a person could type


def _label_of(value: Any) -> Any:
    """A label, a number or a check of a record."""
    return NONE_OF_THESE if value == NONE else value


def _plain(value: Any) -> Plain:
    if isinstance(value, NoneOfThese):
        return dict(NONE)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
