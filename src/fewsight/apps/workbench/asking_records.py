"""From the events of a project to the records that an `ActiveLearner` is rebuilt from.

The records are a function of what holds now: every image that counts is there once, where persons first said something about it,
with what they say today. So undo, redo, corrections, merges and two persons need no record of their own, and a project that
is opened again asks the same question as one that was never closed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fewsight.active.history import Record
from fewsight.apps.workbench.project.events import (
    Asked,
    Clear,
    Discard,
    Event,
    Label,
    NoneOfThese,
    Question,
    Redo,
    Relearned,
    Skip,
    Undo,
)
from fewsight.apps.workbench.project.present import Present
from fewsight.images.hashing import hash_of


@dataclass
class AskingRecords:
    """Records for `ActiveLearner.rebuild`, and of each the requests of the events behind it."""

    records: list[Record] = field(
        default_factory=lambda: [{"act": "start", "indices": [], "labels": [], "excluded": []}]
    )
    requests: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    labelled: list[tuple[str, str]] = field(default_factory=list)  # image and category, in their order
    n_learned: int = 0  # labels that the last re-learning in force knew

    @property
    def last_label(self) -> str | None:
        """The request of the last label."""
        pairs = zip(self.records, self.requests, strict=True)
        return next((requests[-1] for record, requests in reversed([*pairs]) if record["act"] == "label"), None)

    @property
    def digest(self) -> str:
        """What the labels so far are known by."""
        return labels_digest(self.labelled)


def labels_digest(labelled: Iterable[tuple[str, str]]) -> str:
    """A hash of images and their categories, in their order."""
    return hash_of("\n".join(f"{image} {category}" for image, category in labelled).encode())


def asking_records(present: Present, position_of: Mapping[str, int]) -> AskingRecords:
    """The records of all that counts, for a pool in which images have these positions; other images are left out."""
    found = AskingRecords()
    seen: set[str] = set()
    batch: list[Event] = []
    for event in [*_that_count(present), None]:
        if batch and (event is None or event.batch is None or event.batch != batch[0].batch):
            _add_answers(found, batch, present, position_of, seen)
            batch = []
        if event is None:
            continue
        if isinstance(event.act, Question):
            _add_question(found, event, position_of)
        elif isinstance(event.act, Relearned):
            _add_relearned(found, event.act)
        else:
            batch.append(event)
    return found


def _that_count(present: Present) -> list[Event]:
    """Questions, answers that are on, and re-learnings, in order. Questions that followed an act go when it is undone."""
    kept: list[Event] = []
    for event in present.events:
        act = event.act
        if isinstance(act, Undo):
            rows = present.rows_of(act.of)
            after = rows[0].order if rows and rows[0].who == event.who else event.order
            kept = [k for k in kept if not (isinstance(k.act, Question) and k.who == event.who and k.order > after)]
        elif isinstance(act, (Question, Relearned)) or (
            isinstance(act, (Label, NoneOfThese, Discard, Skip, Clear)) and present.is_on(event.act_id)
        ):
            kept.append(event)
        elif isinstance(act, Redo):
            continue
    return kept


def _add_question(found: AskingRecords, event: Event, position_of: Mapping[str, int]) -> None:
    act = event.act
    position = position_of.get(act.image) if isinstance(act, Question) else None
    if position is None:
        return
    asked = event.asked or Asked()
    checks = [[position, asked.n_drawn_from or 0, asked.n_labelled or 0]] if asked.how == "check" else []
    found.records.append({"act": "question", "indices": [position], "checks": checks})
    found.requests.append((event.request,))


def _add_answers(
    found: AskingRecords, batch: Sequence[Event], present: Present, position_of: Mapping[str, int], seen: set[str]
) -> None:
    """What was said at once, a record for each kind."""
    kinds: dict[str, list[Event]] = {}
    for event in batch:
        act = event.act
        if (
            not isinstance(act, (Label, NoneOfThese, Discard, Skip))
            or act.image not in position_of
            or act.image in seen
        ):
            continue
        if isinstance(act, Skip):
            kinds.setdefault("skip", []).append(event)
            continue
        standing = present.standing(act.image)
        if standing is not None:
            seen.add(act.image)
            is_label = standing.choice is not None and standing.choice.category is not None
            kinds.setdefault("label" if is_label else "discard", []).append(event)
    for kind, events in kinds.items():
        record: Record = {"act": kind, "indices": [position_of[_image(event)] for event in events]}
        if kind == "label":
            record |= _labels(found, events, present)
        found.records.append(record)
        found.requests.append(tuple(event.request for event in events))


def _labels(found: AskingRecords, events: Sequence[Event], present: Present) -> Record:
    labels = present.labels()
    keys = [labels[_image(event)] for event in events]
    found.labelled += [(_image(event), key) for event, key in zip(events, keys, strict=True)]
    believed = [_believed(event, present) for event in events]
    return {"labels": [present.categories[key] for key in keys], "believed": believed}


def _believed(event: Event, present: Present) -> str | None:
    """The name, today, of what the image was taken for before its label came."""
    guess = (event.asked.believed or {}).get("guess") if event.asked is not None else None
    return present.categories.get(present.category(guess)) if isinstance(guess, str) else None


def _add_relearned(found: AskingRecords, act: Relearned) -> None:
    """A re-learning counts while the labels it knew are the same."""
    places = [place for place, requests in enumerate(found.requests) if act.last in requests]
    if not places or found.records[places[0]]["act"] != "label":
        return
    indices = [record["indices"] for record in found.records[: places[0] + 1] if record["act"] == "label"]
    n = sum(len(each) for each in indices if isinstance(each, list))
    if labels_digest(found.labelled[:n]) != act.labels:
        return
    found.records.append({"act": "relearned", "snapshot": places[0], "learned": json.loads(act.learned)})
    found.requests.append(())
    found.n_learned = n


def _image(event: Event) -> str:
    return str(getattr(event.act, "image", ""))
