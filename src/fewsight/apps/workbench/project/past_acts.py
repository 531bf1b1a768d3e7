"""The history of a project in words, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fewsight.apps.workbench.project.catalogue import KnownFile, shown_path
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
    RefuseLoan,
    Rename,
    Skip,
)
from fewsight.apps.workbench.project.present import Present

_WORDS = {
    "none": "none of these",
    "skip": "skipped",
    "discard": "discarded",
    "clear": "label taken back",
    "relearned": "learned again",
}


@dataclass(frozen=True)
class PastAct:
    """A line of the history."""

    id: str
    at: int  # microseconds since 1970
    who: str
    what: str
    on: bool  # False: undone
    n_images: int
    files: tuple[str, ...]


def past_act(present: Present, act_id: str) -> PastAct | None:
    """What an act was, without the names of files."""
    rows = present.rows_of(act_id)
    return _past(act_id, rows, present, {}) if rows else None


def past_acts(present: Present, files: Mapping[bytes, KnownFile], most: int | None = None) -> list[PastAct]:
    """What was done, the last first; batches are one line, and questions are none."""
    names = {file.hash: shown_path(path) for path, file in files.items() if file.hash}
    acts: dict[str, list[Event]] = {}
    for event in present.events:
        if not isinstance(event.act, Question):
            acts.setdefault(event.act_id, []).append(event)
    chosen = list(acts.items())[::-1][:most]
    return [_past(act_id, rows, present, names) for act_id, rows in chosen]


def _past(act_id: str, rows: Sequence[Event], present: Present, names: Mapping[str, str]) -> PastAct:
    images = [event.act.image for event in rows if isinstance(event.act, (Label, NoneOfThese, Skip, Discard, Clear))]
    first = next((event for event in rows if not isinstance(event.act, NewCategory)), rows[0])
    files = tuple(names.get(image, image) for image in images)
    on = present.is_on(act_id) or not first.act.undoable
    return PastAct(act_id, rows[0].at, rows[0].who, _in_words(first.act, present), on, len(images), files)


def _name_at_first(key: str, present: Present) -> str:
    """The name of a category that was undone."""
    made = (event.act for event in present.events if event.request == key)
    return next((act.name for act in made if isinstance(act, NewCategory)), "a category that was undone")


def _in_words(act: Act, present: Present) -> str:
    def name(key: str) -> str:
        root = present.category(key)
        return present.categories.get(root) or _name_at_first(root, present)

    if isinstance(act, Label):
        return name(act.category)
    if isinstance(act, NewCategory):
        return f"new category {act.name}"
    if isinstance(act, Rename):
        return f"renamed a category to {act.name}"
    if isinstance(act, Merge):
        return f"merged a category into {name(act.into)}"
    if isinstance(act, (Loan, RefuseLoan)):
        verb = "borrows from" if isinstance(act, Loan) else "does not borrow from"
        return f"{name(act.category)} {verb} {name(act.lender)}"
    if isinstance(act, Import):
        return f"imported from {act.source}"
    return _WORDS.get(act.kind, act.kind)
