"""What people and the model did, one small class for each kind of act, and the rows of the project file they are kept in.

An event is one row: an act, who did it and when. Acts that were done with one key are one *batch* and are undone together.
The sender gives every request an id that nobody else uses, so a request that is sent twice counts once, and the events of two
project files can be joined. A category is known by the id of the request that made it, whatever it is called today.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, NamedTuple, TypeAlias, get_type_hints

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, ProjectError

LONGEST_NAME = 100
LAST_TIME = 253_402_300_800_000_000  # the end of the year 9999, in microseconds

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_HASH = re.compile(r"[0-9a-f]{40}")


class Asked(NamedTuple):
    """How an answer came about, and what the model believed about the image just before."""

    how: str = "own choice"  # or: rule, check, grid
    n_drawn_from: int | None = None  # images that a random check was drawn from
    n_labelled: int | None = None  # labels that the model knew when it asked
    believed: Mapping[str, Json] | None = None  # number of the model, the likeliest categories, the unknown score


@dataclass(frozen=True)
class Act:
    """Base of all acts. `image` is a content hash, `category` the id of a category; other fields go into one JSON column."""

    kind: ClassVar[str]
    undoable: ClassVar[bool] = True


@dataclass(frozen=True)
class Question(Act):
    """An image was put to a person; `rule` names the query rule that chose it, `page` the page it is for."""

    kind, undoable = "question", False
    image: str
    rule: str
    page: str = ""


@dataclass(frozen=True)
class Label(Act):
    """The image belongs to the category."""

    kind = "label"
    image: str
    category: str


@dataclass(frozen=True)
class NoneOfThese(Act):
    """The image belongs to no category."""

    kind = "none"
    image: str


@dataclass(frozen=True)
class Skip(Act):
    """Ask about the image later."""

    kind = "skip"
    image: str


@dataclass(frozen=True)
class Discard(Act):
    """Never ask about the image, and do not sort it."""

    kind = "discard"
    image: str


@dataclass(frozen=True)
class Clear(Act):
    """The person takes back what they said about the image."""

    kind = "clear"
    image: str


@dataclass(frozen=True)
class NewCategory(Act):
    """A category, known from now on by the id of this request."""

    kind = "category"
    name: str


@dataclass(frozen=True)
class Rename(Act):
    """The category has another name."""

    kind = "rename"
    category: str
    name: str


@dataclass(frozen=True)
class Merge(Act):
    """The images of the category belong to another one, `into`."""

    kind = "merge"
    category: str
    into: str


@dataclass(frozen=True)
class Loan(Act):
    """The category borrows from `lender`: `share` is how much the two have in common, 0 where nobody has worked it out."""

    kind = "loan"
    category: str
    lender: str
    share: float = 0.0


@dataclass(frozen=True)
class RefuseLoan(Act):
    """The category does not borrow from `lender`, and that is not offered again."""

    kind = "refuse"
    category: str
    lender: str


@dataclass(frozen=True)
class Import(Act):
    """The acts of this batch come from a file or a folder."""

    kind = "import"
    source: str


@dataclass(frozen=True)
class Undo(Act):
    """The act with the id `of`, alone or a batch, is switched off."""

    kind, undoable = "undo", False
    of: str


@dataclass(frozen=True)
class Redo(Act):
    """An act that was undone is switched on again."""

    kind, undoable = "redo", False
    of: str


@dataclass(frozen=True)
class Relearned(Act):
    """Weights, noise and calibration were learned from the labels up to the event `last`.

    They hold as long as those labels are the same, which `labels`, a hash of them, tells. `learned` is what came out, as JSON;
    null if it is to be learned again.
    """

    kind, undoable = "relearned", False
    last: str
    labels: str
    learned: str


KINDS: dict[str, type[Act]] = {
    kind.kind: kind
    for kind in (
        *(Question, Label, NoneOfThese, Skip, Discard, Clear, NewCategory, Rename, Merge),
        *(Loan, RefuseLoan, Import, Undo, Redo, Relearned),
    )
}

_FIELDS = {kind: {field.name: get_type_hints(kind)[field.name] for field in fields(kind)} for kind in KINDS.values()}
# What a row must have; a field with a default came later than the first projects.
_NEEDED = {kind: {field.name for field in fields(kind) if field.default is MISSING} for kind in KINDS.values()}


@dataclass(frozen=True)
class Event:
    """One row. `at` is in microseconds since 1970 and grows from event to event of one file."""

    at: int
    who: str
    session: str
    request: str
    act: Act
    batch: str | None = None
    asked: Asked | None = None

    @property
    def act_id(self) -> str:
        """What undo calls it: the batch it is part of, or its own request."""
        return self.batch or self.request

    @property
    def order(self) -> tuple[int, str]:
        """Events are replayed in this order, whichever file they came from."""
        return self.at, self.request


COLUMNS = ("at", "who", "session", "request", "batch", "act", "image", "category", "data")
ASKED_COLUMNS = ("asked", "n_drawn_from", "n_labelled", "believed")
Row: TypeAlias = "tuple[str | int | None, ...]"


def to_row(event: Event) -> Row:
    """The values of COLUMNS and ASKED_COLUMNS."""
    values = {field.name: getattr(event.act, field.name) for field in fields(event.act)}
    image, category = values.pop("image", None), values.pop("category", None)
    start = (event.at, event.who, event.session, event.request, event.batch, event.act.kind)
    asked = event.asked or (None, None, None, None)
    believed = None if asked[3] is None else _json(asked[3])
    return (*start, image, category, _json(values) if values else None, *asked[:3], believed)


def from_row(row: Iterable[str | int | None]) -> Event:
    """The event that `to_row` wrote; a row that nobody wrote is a ProjectError."""
    at, who, session, request, batch, kind, image, category, data, how, drawn, labelled, believed = row
    try:
        values: dict[str, Json] = _object(data) if data is not None else {}
        values |= {} if image is None else {"image": image}
        values |= {} if category is None else {"category": category}
        act = _act(KINDS[_text(kind)], values)
        asked = None if how is None else Asked(_text(how), _count(drawn), _count(labelled), _belief(believed))
        batch_id = None if batch is None else _text(batch)
        if not 0 <= _whole(at) < LAST_TIME:
            raise ValueError
        return Event(_whole(at), _text(who), _text(session), _text(request), act, batch_id, asked)
    except (KeyError, TypeError, ValueError):
        raise ProjectError(f"an event is damaged: request {shown(request)}, act {shown(kind)}.") from None


def check_name(owner: str, name: str) -> str:
    """A category's name as it is kept: NFC, 1 to 100 characters in one line."""
    name = unicodedata.normalize("NFC", str(name).strip())
    odd = {"Cc", "Cs", "Zl", "Zp"}  # control characters, halves of characters, line and paragraph separators
    if not name or len(name) > LONGEST_NAME or any(unicodedata.category(char) in odd for char in name):
        raise InvalidInput(
            f"{owner}: a category's name must have 1 to {LONGEST_NAME} characters and no line breaks, got {shown(name)}."
        )
    return name


def folded(name: str) -> str:
    """Names that differ in case only are the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def check_hash(value: str) -> str:
    """A content hash, as `images.hashing` gives it."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise InvalidInput(f"project: an image must be named by the 40 digits of its content hash, got {shown(value)}.")
    return value


def _act(kind: type[Act], values: Mapping[str, Json]) -> Act:
    """An act of checked fields: they may come from a file that somebody edited."""
    hints = _FIELDS[kind]
    if not _NEEDED[kind] <= set(values) <= set(hints) or not all(_is(values[name], hints[name]) for name in values):
        raise ValueError
    if "image" in hints:
        check_hash(str(values["image"]))
    return kind(**values)


def _is(value: Json, hint: type) -> bool:
    return isinstance(value, hint) and not isinstance(value, bool)


def _json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=True, allow_nan=False)


def _object(value: str | int | None) -> dict[str, Json]:
    found = json.loads(_text(value))
    if not isinstance(found, dict):
        raise TypeError
    return found


def _belief(value: str | int | None) -> dict[str, Json] | None:
    return None if value is None else _object(value)


def _text(value: str | int | None) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: str | int | None) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _count(value: str | int | None) -> int | None:
    return None if value is None else _whole(value)
