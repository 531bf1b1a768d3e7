"""Everything that happened while labels were asked for, as an ordered list of plain records.

Learner, schedule, random checks, advice and undo are what replaying the records gives: the same records give the same next
question, whether the run was ever interrupted or not. A record is a dictionary that JSON can hold:

    {"act": "start", "indices": [...], "labels": [...], "excluded": [...]}      what was known at the beginning
    {"act": "question", "indices": [...], "checks": [[position, drawn from, labels then], ...]}
    {"act": "label", "indices": [...], "labels": [...], "believed": [...]}      what each was taken for before its label came
    {"act": "skip", "indices": [...]}
    {"act": "discard", "indices": [...]}                                        never asked about again, no part of the rest
    {"act": "correct", "indices": [position], "labels": [label]}
    {"act": "undo"}, {"act": "redo"}
    {"act": "relearned", "snapshot": number of the last act it learned from, "learned": {...} or None}

Acts are on until they are undone. Undo takes back the last label, skip, discard or correction that is on, and redo the last
undo, until something else is done. What was learned at intervals holds as long as all acts of its snapshot are on; the last
such re-learning counts, so that noise, weights and calibration come back with an undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.active.views.labelled import Label, Labelled

Plain = str | int | float | bool | None | Sequence["Plain"] | Mapping[str, "Plain"]
Record = dict[str, Plain]


GIVE_LABELS = ("start", "label")


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
    labels: tuple[Label, ...] = ()
    believed: tuple[Label | None, ...] = ()
    excluded: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    snapshot: int = -1
    learned: Mapping[str, Plain] | None = None

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "start": ("indices", "labels", "excluded"),
        "question": ("indices", "checks"),
        "label": ("indices", "labels", "believed"),
        "skip": ("indices",),
        "discard": ("indices",),
        "correct": ("indices", "labels"),
        "undo": (),
        "redo": (),
        "relearned": ("snapshot", "learned"),
    }
    UNDOABLE: ClassVar[frozenset[str]] = frozenset({"label", "skip", "discard", "correct"})

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
        if "checks" in fields:
            fields["checks"] = [Check(*numbers) for numbers in fields["checks"]]
        for name, value in fields.items():
            fields[name] = tuple(value) if isinstance(value, list) else value
        return cls(kind, **fields)


@final
class History:
    """Acts in the order in which they happened, and which of them are on. Its memory is linear in their number."""

    def __init__(self, records: Sequence[Mapping[str, Plain]] = ()) -> None:
        self.acts: list[Act] = []
        self._on: list[int] = []  # a stack: what stands below an act never changes while it is on
        self._undone: list[int] = []
        for record in records:
            self.add(Act.from_record(record))

    def add(self, act: Act) -> None:
        """The next act."""
        if not self.acts and act.kind != "start":
            raise InvalidInput(f"records: the first must be the start, got {act.kind!r}.")
        number = len(self.acts)
        self.acts.append(act)
        if act.kind == "undo":
            self._undo()
        elif act.kind == "redo":
            self._on.append(self._undone.pop())
        elif act.kind != "relearned":
            self._on.append(number)
            self._undone = [] if act.kind in Act.UNDOABLE else self._undone

    def _undo(self) -> None:
        """Questions that were put after the act go with it."""
        while self.acts[self._on[-1]].kind not in Act.UNDOABLE:
            self._on.pop()
        self._undone.append(self._on.pop())

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

    def on(self) -> list[Act]:
        """The acts that are on, in order."""
        return [self.acts[number] for number in self._on]

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
        changed = next(n for n in reversed(self._on[:end]) if self.acts[n].kind in ("start", "label", "correct"))
        learned_from = where[self.acts[last].snapshot] + 1 if last >= 0 else 0
        n_learned = sum(
            len(act.indices) for act in map(self.acts.__getitem__, self._on[:learned_from]) if act.kind in GIVE_LABELS
        )
        return Moment(end, (changed, last), learned_from, n_learned, self.acts[last] if last >= 0 else None)

    def labelled(self, end: int | None = None) -> Labelled:
        """The labels of the first acts that are on; classes in the order in which they came, those of the start sorted."""
        positions: list[int] = []
        labels: list[Label] = []
        classes: list[Label] = []
        for number in self._on[:end]:
            act = self.acts[number]
            if act.kind == "correct":
                labels[positions.index(act.indices[0])] = act.labels[0]
                kept = [known for known in classes if known in labels]
                classes = kept + [known for known in dict.fromkeys(labels) if known not in kept]
            elif act.kind in GIVE_LABELS:
                positions += act.indices
                labels += act.labels
                new = sorted(set(act.labels)) if act.kind == "start" else dict.fromkeys(act.labels)
                classes += [label for label in new if label not in classes]
        return Labelled(positions, labels, classes)


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """A state of learning.

    end : how many of the acts that are on it knows.
    key : the numbers of the last act that changed labels, which a re-learning names as its snapshot, and of the re-learning in
        force; -1 without one.
    learned_from, n_learned : how many of the acts that are on the re-learning knew, and how many labels.
    """

    end: int
    key: tuple[int, int]
    learned_from: int
    n_learned: int
    relearned: Act | None


def _plain(value: Plain | tuple[Plain, ...]) -> Plain:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
