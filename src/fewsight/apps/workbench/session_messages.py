"""What a labelling session and a page say to each other: plain, frozen, and JSON can hold it (`dataclasses.asdict`).

Images are named by their content hash, categories by their id.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageQuestion:
    """An image to ask about. `group` are others of the same burst or picture, which one answer may serve."""

    image: str
    file: str
    reason: str
    check: bool = False  # drawn at random, to know how good the decisions are
    width: int | None = None
    height: int | None = None
    group: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a person says: label (with a category), none, skip, discard or clear; and how it came about."""

    kind: str
    images: tuple[str, ...]
    category: str | None = None
    how: str = "question"  # or: grid, own choice


@dataclass(frozen=True)
class CategoryInfo:
    """A category with its key on the page, and a few images that are typical of it."""

    id: str
    name: str
    key: str | None
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class SessionState:
    """Where the session stands; `version` changes with everything else.

    model : none (nothing can be learned yet), plain (too few labels to learn how much each cue counts), learned, learning (a new
        one is on its way) or failed.
    n_learned, n_behind : the labels that the model in use knows, and those that it does not know yet.
    n_images, n_known : the different images that were read, and those of them that the model can see: questions, look-alikes,
        guesses and results are about these.
    accuracy, advice : one short phrase each, empty while nothing is known.
    """

    version: int
    last_event: int
    n_files: int
    n_read: int
    n_features: int
    n_unreadable: int
    n_labelled: int
    n_none: int
    n_skipped: int
    n_discarded: int
    n_left: int
    can_undo: bool
    can_redo: bool
    model: str = "none"
    n_learned: int = 0
    n_behind: int = 0
    accuracy: str = ""
    advice: str = ""
    remarks: tuple[str, ...] = ()
    who: str = ""
    folder: str = ""
    n_images: int = 0
    n_known: int = 0


@dataclass(frozen=True)
class Receipt:
    """An act is on the disk. `said` is one short sentence about it; `repeated` if the request had come before."""

    event: int
    repeated: bool
    category: str | None
    questions: list[PageQuestion]
    state: SessionState
    said: str


@dataclass(frozen=True)
class Guess:
    """What the model thinks of an image, in words first: sure, leaning or no idea."""

    words: str
    category: str | None
    name: str
    top: tuple[tuple[str, str, float], ...]  # id, name and probability of the likeliest categories
    unknown: float | None = None  # how unlike all that was learned: higher is stranger; None where that is not known


@dataclass(frozen=True)
class GridImage:
    """An image of a grid, and how probable it is that it belongs there."""

    image: str
    file: str
    probability: float | None = None


@dataclass(frozen=True)
class LabelItem:
    """A label that was given; `surprise` is large where the other labels say something else, which `guess` names."""

    image: str
    file: str
    category: str
    who: str
    at: int  # microseconds since 1970
    surprise: float = 0.0
    guess: str = ""


@dataclass(frozen=True)
class LabelPage:
    """Some labels, the most surprising first; `next` is where the next page starts."""

    items: list[LabelItem]
    total: int
    next: int | None


@dataclass(frozen=True)
class Disagreement:
    """An image about which persons differ: who says what (label, none or discard, and the category's id)."""

    image: str
    file: str
    votes: tuple[tuple[str, str, str | None], ...]


@dataclass(frozen=True)
class Interval:
    """An estimate and its 90 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Progress:
    """How far labelling has come, and whether to go on.

    accuracy_checks : by images drawn at random. accuracy_left_out : of labelled images, each decided by the others.
    curve : labels, accuracy and its interval, as the random checks say it, over time. cues : channel, its share, in words.
    n_more : answers until the advice would be to stop; None where that cannot be said.
    goal : an accuracy a little above that of now, and the answers that it would take; None likewise. The advice says it in words.
    """

    sentence: str
    advice: str
    accuracy_checks: Interval | None
    accuracy_left_out: float | None
    counts: list[tuple[str, str, int]]
    curve: list[tuple[int, float, float, float]]
    cues: list[tuple[str, float, str]]
    n_checks: int = 0
    n_more: int | None = None
    goal: tuple[float, int] | None = None


@dataclass(frozen=True)
class ResultItem:
    """What an image is taken for, or labelled as."""

    image: str
    file: str
    category: str | None
    probability: float | None
    unknown: bool
    labelled: bool


@dataclass(frozen=True)
class ResultPage:
    """Some results; `groups` has id, name and number of images of each category, of unknown, unsure and unread ones."""

    items: list[ResultItem]
    groups: list[tuple[str, str, int]]
    unreadable: list[tuple[str, str]]
    total: int
    next: int | None


@dataclass(frozen=True)
class SortPreview:
    """What a sorting would do; `sort` takes its id. `counts` are files for each folder."""

    id: str
    target: str
    way: str
    counts: dict[str, int]
    n_files: int
    n_new_folders: int
    n_in_place: int
    n_taken_back: int


@dataclass(frozen=True)
class SortReport:
    """What a sorting, or its undo, did, and which files it left alone, with the reason; after undo, how many files of earlier
    sortings stay in the same folder, if undo takes those back next."""

    n_done: int
    left: list[tuple[str, str]]
    n_earlier: int = 0


@dataclass(frozen=True)
class LoanOffer:
    """A category with few images could borrow from another one; `sentence` says so."""

    category: str
    lender: str
    name: str
    lender_name: str
    sentence: str


@dataclass(frozen=True)
class Closing:
    """What was done in a session that has ended."""

    n_answers: int
    n_labelled: int
    n_left: int
    remarks: tuple[str, ...] = ()
