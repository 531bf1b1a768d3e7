"""From the events of a project to the records that an `ActiveLearner` is rebuilt from.

The records are a function of what holds now: every image that counts is there once, where persons first said something about it,
with what they say today. So undo, redo, corrections, merges and two persons need no record of their own, and a project that
is opened again asks the same question as one that was never closed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fewsight.active.history import NONE, Plain, Record
from fewsight.apps.workbench.project.events import Discard, Event, Label, Loan, NoneOfThese, Relearned, Skip
from fewsight.apps.workbench.project.present import Present
from fewsight.images.hashing import hash_of

ANSWERS = (Label, NoneOfThese, Discard, Skip)
NOTHING = "none"  # stands for the category of an image that has none


@dataclass
class AskingRecords:
    """Records for `ActiveLearner.rebuild`, and of each the requests of the events behind it."""

    records: list[Record] = field(
        default_factory=lambda: [{"act": "start", "indices": [], "labels": [], "excluded": []}]
    )
    requests: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    labelled: list[tuple[str, str]] = field(default_factory=list)  # image and category, in their order
    n_learned: int = 0  # labels that the last re-learning in force knew
    seen: set[str] = field(default_factory=set)  # images that have their record

    @property
    def last_label(self) -> str | None:
        """The request of the last label."""
        pairs = zip(reversed(self.records), reversed(self.requests), strict=True)
        return next((requests[-1] for record, requests in pairs if record["act"] == "label"), None)

    @property
    def digest(self) -> str:
        """What the labels so far are known by."""
        return labels_digest(self.labelled)

    def add(self, record: Record, requests: tuple[str, ...] = ()) -> None:
        self.records.append(record)
        self.requests.append(requests)


def labels_digest(labelled: Iterable[tuple[str, str]]) -> str:
    """A hash of images and their categories, in their order."""
    return hash_of("\n".join(f"{image} {category}" for image, category in labelled).encode())


def asking_records(present: Present, position_of: Mapping[str, int]) -> AskingRecords:
    """The records of all that counts, for a pool in which images have these positions; other images are left out."""
    found = AskingRecords()
    add_records(found, present.events, present, position_of)
    return found


def add_records(
    found: AskingRecords, events: Iterable[Event], present: Present, position_of: Mapping[str, int]
) -> None:
    """The records of further events: answers that are on, and re-learnings. What was said with one key is one record."""
    batch: list[Event] = []
    for event in events:
        is_answer = isinstance(event.act, ANSWERS) and present.is_on(event.act_id)
        if batch and not (is_answer and event.batch is not None and event.batch == batch[0].batch):
            _add_answers(found, batch, present, position_of)
            batch = []
        if is_answer:
            batch.append(event)
        elif isinstance(event.act, Relearned):
            _add_relearned(found, event.act)
        elif isinstance(event.act, Loan) and present.is_on(event.act_id):
            _add_loan(found, event.act, present)
    if batch:
        _add_answers(found, batch, present, position_of)


def is_plain(event: Event, present: Present, seen: set[str]) -> bool:
    """Whether records of earlier events stay as they are when this event comes."""
    act = event.act
    if isinstance(act, ANSWERS):
        standing = present.standing(act.image)
        alone = standing is None or (len(standing.votes) == 1 and standing.choice is not None)
        return act.image not in seen and alone
    return act.kind in ("category", "import") or (not act.undoable and act.kind not in ("undo", "redo"))


def _add_answers(
    found: AskingRecords, batch: Sequence[Event], present: Present, position_of: Mapping[str, int]
) -> None:
    """What was said at once, a record for each kind; random checks are questions before it."""
    kinds: dict[str, list[Event]] = {}
    for event in batch:
        image = _image(event)
        if image not in position_of or image in found.seen:
            continue
        if isinstance(event.act, Skip):
            kinds.setdefault("skip", []).append(event)
            continue
        standing = present.standing(image)
        if standing is not None:
            found.seen.add(image)
            is_label = standing.choice is not None and standing.choice.kind in ("label", "none")
            kinds.setdefault("label" if is_label else "discard", []).append(event)
    for kind, events in kinds.items():
        positions = [position_of[_image(event)] for event in events]
        if kind == "label":
            checks = [_check(event, place) for event, place in zip(events, positions, strict=True)]
            drawn = [check for check in checks if check is not None]
            if drawn:
                found.add({"act": "question", "indices": [check[0] for check in drawn], "checks": drawn})
        record: Record = {"act": kind, "indices": positions}
        found.add(record | (_labels(found, events, present) if kind == "label" else {}), _requests(events))


def _check(event: Event, position: int) -> list[int] | None:
    asked = event.asked
    if asked is None or asked.how != "check":
        return None
    return [position, asked.n_drawn_from or 0, asked.n_labelled or 0]


def _labels(found: AskingRecords, events: Sequence[Event], present: Present) -> Record:
    keys = [_category(event, present) for event in events]
    found.labelled += [(_image(event), key or NOTHING) for event, key in zip(events, keys, strict=True)]
    labels: list[Plain] = [NONE if key is None else present.categories[key] for key in keys]
    believed = [_believed(event, key is None, present) for event, key in zip(events, keys, strict=True)]
    return {"labels": labels, "believed": believed}


def _category(event: Event, present: Present) -> str | None:
    """The category of the event's image today; None for none of these."""
    standing = present.standing(_image(event))
    assert standing is not None
    assert standing.choice is not None
    return standing.choice.category


def _believed(event: Event, is_none: bool, present: Present) -> Plain:
    """The name, today, of what the image was taken for before its label came; none of these is right if it was called unknown."""
    believed = (event.asked.believed if event.asked is not None else None) or {}
    if is_none and believed.get("called_unknown"):
        return NONE
    guess = believed.get("guess")
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
    found.add({"act": "relearned", "snapshot": places[0], "learned": json.loads(act.learned)})
    found.n_learned = n


def _add_loan(found: AskingRecords, act: Loan, present: Present) -> None:
    """A loan counts unless another one, or a refusal, took its place."""
    borrower, lender = present.category(act.category), present.category(act.lender)
    known = {key for _, key in found.labelled}
    if act.share > 0 and present.loans().get(borrower) == lender and {borrower, lender} <= known:
        names: list[Plain] = [present.categories[key] for key in (borrower, lender)]
        found.add({"act": "borrow", "labels": names, "rho": act.share})


def _requests(events: Sequence[Event]) -> tuple[str, ...]:
    return tuple(event.request for event in events)


def _image(event: Event) -> str:
    return str(getattr(event.act, "image", ""))
