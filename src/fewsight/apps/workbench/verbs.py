"""All that a person can do with a project, as one object. The command line and the page ask it; it prints nothing.

An act is on the disk when its verb returns. A verb that is sent again with the same `request` does nothing and returns the same.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias, final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.apps.workbench import exchange
from fewsight.apps.workbench import scan as scanning
from fewsight.apps.workbench import sort as sorting
from fewsight.apps.workbench.exchange import Exported, Found, Wish
from fewsight.apps.workbench.project.catalogue import KnownFile, absolute_path, captures, known_files, shown_path
from fewsight.apps.workbench.project.events import (
    LONGEST_NAME,
    Act,
    Asked,
    Clear,
    Discard,
    Event,
    Import,
    Label,
    Loan,
    Merge,
    NewCategory,
    NoneOfThese,
    Redo,
    RefuseLoan,
    Rename,
    Skip,
    Undo,
    check_hash,
    check_name,
)
from fewsight.apps.workbench.project.file import Draft, ProjectFile, Written, read_copy
from fewsight.apps.workbench.project.location import locate
from fewsight.apps.workbench.project.past_acts import PastAct, past_acts
from fewsight.apps.workbench.project.present import Present
from fewsight.apps.workbench.project.status_counts import ProjectStatus, disagreements, status_of
from fewsight.apps.workbench.scan import Scan
from fewsight.apps.workbench.sort import Sortable, SortOutcome, SortPlan
from fewsight.images.files import printable, read_bytes
from fewsight.images.hashing import hash_of

if TYPE_CHECKING:
    from fewsight.apps.workbench.image_sources import Workplace


NAMES = "names"  # the setting that keeps what persons call themselves
Images: TypeAlias = "str | Sequence[str]"  # content hashes
AskedOf: TypeAlias = "Asked | Mapping[str, Asked] | None"
Acts: TypeAlias = "Sequence[Draft | Act]"
Notes: TypeAlias = "Sequence[Draft | Act]"  # that are written before the act, each by itself


@dataclass
class Imported:
    """What an import brought."""

    n_new: int = 0
    n_same: int = 0  # said before
    categories: list[str] = field(default_factory=list)  # that are new
    missing: list[str] = field(default_factory=list)
    other_content: list[str] = field(default_factory=list)
    unreadable: list[UnreadableImage] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)


@final
class Workbench:
    """An open project: the folder, its project file and who is at work.

    Threads may share it. `on_events` hears of all that was written, here or by another program, before anything else is done.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        project: str | os.PathLike[str] | None = None,
        who: str | None = None,
        create: bool = True,
        on_events: Callable[[list[Event], Present], None] | None = None,
    ) -> None:
        place = locate(folder, project)
        if not create and not place.path.exists():
            raise InvalidInput(
                f"{printable(folder)}: no project there yet; `fewsight import` or `fewsight label` begins one."
            )
        self.folder, self.remark = Path(folder), place.remark
        person, self.session = check_person(who), uuid.uuid4().hex
        self.file = ProjectFile(place.path, create=create)
        self.who = person if who is not None else self._own_names().get(_account(), person)
        self._on_events = on_events
        self._lock = threading.RLock()
        self._present, self.last_event = Present(), 0
        self.refresh()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the project file go; nothing waits to be written."""
        self.file.close()

    def call_me(self, name: str) -> None:
        """From now on labels are this person's, also in later runs from the same account where no name is said."""
        name = check_person(name)
        if name != self._own_names().get(_account()):
            self.file.set(NAMES, {**self._own_names(), _account(): name})
        self.who = name

    def _own_names(self) -> dict[str, str]:
        """What persons called themselves, by the account that they work from."""
        kept = self.file.setting(NAMES)
        return {each: name for each, name in kept.items() if isinstance(name, str)} if isinstance(kept, dict) else {}

    # What holds.

    @property
    def present(self) -> Present:
        """What holds now, with all that this or another program has written."""
        self.refresh()
        return self._present

    @contextlib.contextmanager
    def reading(self) -> Iterator[Present]:
        """What holds now, as far as it was taken in; nothing is written meanwhile."""
        with self._lock:
            yield self._present

    def refresh(self) -> list[Event]:
        """Take in what was written since; the new events."""
        with self._lock:
            rows = self.file.events(self.last_event)
            new = [event for _, event in rows]
            if not new:
                return []
            known = self._present.events
            if known and min(event.order for event in new) <= known[-1].order:  # of another file, from earlier
                self._present = Present([*known, *new])
            else:
                for event in sorted(new, key=lambda event: event.order):
                    self._present.add(event)
            self.last_event = rows[-1][0]
            if self._on_events is not None:
                self._on_events(new, self._present)
            return new

    def files(self) -> dict[bytes, KnownFile]:
        """Every file of the project, by path."""
        return known_files(self.file)

    def status(self) -> ProjectStatus:
        """Counts of everything."""
        return status_of(self.present, self.files(), captures(self.file), self.who)

    def history(self, most: int | None = None) -> list[PastAct]:
        """What was done, the last first; batches are one line."""
        return past_acts(self.present, self.files(), most)

    # Images.

    def scan(self, *, must_save: bool = True) -> Scan:
        """Look at the folder again; where it need not be saved, also with a project that cannot be written to."""
        return scanning.scan(self.file, self.folder, sorting.targets_left_out(self.file), must_save=must_save)

    # Answers. `asked` says how each came about: one for all images, or one for each.

    def label(
        self, images: Images, category: str, *, asked: AskedOf = None, request: str | None = None, notes: Notes = ()
    ) -> Written:
        """These images belong to the category, which is named by its id."""
        return self._answer(lambda image: Label(image, self._category(category)), images, asked, request, notes)

    def none_of_these(
        self, images: Images, *, asked: AskedOf = None, request: str | None = None, notes: Notes = ()
    ) -> Written:
        """These images belong to no category."""
        return self._answer(NoneOfThese, images, asked, request, notes)

    def skip(self, images: Images, *, asked: AskedOf = None, request: str | None = None, notes: Notes = ()) -> Written:
        """Ask about these images later."""
        return self._answer(Skip, images, asked, request, notes)

    def discard(
        self, images: Images, *, asked: AskedOf = None, request: str | None = None, notes: Notes = ()
    ) -> Written:
        """Never ask about these images."""
        return self._answer(Discard, images, asked, request, notes)

    def clear(self, images: Images, *, request: str | None = None, notes: Notes = ()) -> Written:
        """Take back what this person said about these images."""
        return self._answer(Clear, images, None, request, notes)

    def note(self, notes: Notes) -> None:
        """Keep what was asked and learned: acts of nobody's will, which undo passes over."""
        if notes:
            self._say([], None, notes)

    def undo(self, request: str | None = None, notes: Notes = ()) -> Written:
        """Take back this person's last act."""
        return self._say(lambda: [Undo(self._last_act(self._present.last_done(self.who), "undo"))], request, notes)

    def redo(self, request: str | None = None, notes: Notes = ()) -> Written:
        """Take back this person's last undo."""
        return self._say(lambda: [Redo(self._last_act(self._present.last_undone(self.who), "redo"))], request, notes)

    # Categories.

    def new_category(self, name: str, request: str | None = None) -> str:
        """A category of this name; its id."""
        return self.add_category(name, request).events[0].request

    def add_category(self, name: str, request: str | None = None) -> Written:
        """A category of this name; its id is the request of the event."""
        return self._say(lambda: [NewCategory(self._free_name(name))], request)

    def rename(self, category: str, name: str, request: str | None = None) -> Written:
        """Give a category another name."""

        def acts() -> list[Act]:
            key = self._category(category)
            return [Rename(key, self._free_name(name, key))]

        return self._say(acts, request)

    def merge(self, category: str, into: str, request: str | None = None) -> Written:
        """All images of a category belong to another one."""

        def acts() -> list[Act]:
            keys = self._category(category), self._category(into)
            if keys[0] == keys[1]:
                raise InvalidInput(
                    f"merge: the categories must be two, got {self._present.categories[keys[0]]!r} twice."
                )
            return [Merge(*keys)]

        return self._say(acts, request)

    def borrow(self, category: str, lender: str, request: str | None = None, share: float = 0.0) -> Written:
        """Let a category with few images borrow from another one; `share` is how much the two have in common."""
        return self._say(lambda: [Loan(self._category(category), self._category(lender), float(share))], request)

    def refuse_loan(self, category: str, lender: str, request: str | None = None) -> Written:
        """Do not let a category borrow from another one."""
        return self._say(lambda: [RefuseLoan(self._category(category), self._category(lender))], request)

    # Labels from elsewhere and for elsewhere.

    def import_labels(self, source: str | os.PathLike[str], request: str | None = None) -> Imported:
        """Labels from a CSV table, from class folders, or from another project file, by what the source is.

        Those of a table or of class folders are one act of this person, which undo takes back; those of another project keep
        their persons.
        """
        if os.path.isdir(source):
            return self._take_in(exchange.read_class_folders(source, self.file, self.folder), source, request)
        with open(source, "rb") as stream:
            is_project = stream.read(16) == b"SQLite format 3\0"
        if is_project:
            return self._join(source)
        return self._take_in(exchange.read_table(source, self.file, self.folder), source, request)

    def export_labels(self, path: str | os.PathLike[str]) -> Exported:
        """Write all labels to a CSV table."""
        return exchange.export_table(path, self.file, self.present)

    # Sorting.

    def labelled_files(self) -> list[Sortable]:
        """Every file with a label, and those that belong to no category; for `plan_sort`."""
        present = self.present
        there = [file for file in self.files().values() if file.hash and file.vanished_at is None]
        found = (_answered(file.path, str(file.hash), present) for file in there)
        return [each for each in found if each is not None]

    def unreadable_files(self) -> list[UnreadableImage]:
        """Every file that is there and was found to be unreadable."""
        there = (file for file in self.files().values() if file.vanished_at is None)
        return [
            UnreadableImage(shown_path(file.path), file.unreadable) for file in there if file.unreadable is not None
        ]

    def unanswered_files(self) -> list[KnownFile]:
        """Every file that is there, may be read, and that nobody has said anything about."""
        standings = self.present.standings()
        return [
            file
            for file in self.files().values()
            if file.vanished_at is None and file.unreadable is None and file.hash not in standings
        ]

    def predicted_files(
        self, model_file: str | os.PathLike[str], workplace: Workplace | None = None
    ) -> tuple[list[Sortable], list[UnreadableImage]]:
        """What a model file says about the `unanswered_files`, for `plan_sort`; and those that cannot be read."""
        from fewsight.apps.workbench.predicting import predict_images

        present = self.present
        standings = present.standings()
        open_ones = {absolute_path(self.folder, file.path): file for file in self.unanswered_files()}
        if not open_ones:
            return [], []
        found = []
        predictions = predict_images(Path(model_file), list(open_ones), workplace=workplace)
        try:
            for each in predictions:
                file = open_ones[each.file]
                content = file.hash or hash_of(read_bytes(each.file))
                if content not in standings:
                    found.append(Sortable(file.path, content, each.category, each.probability, each.unknown == "yes"))
                elif (known := _answered(file.path, content, present)) is not None:  # a copy of an answered image
                    found.append(known)
        except InvalidInput:
            if len(predictions.unreadable) < len(open_ones):
                raise
        return found, predictions.unreadable

    def plan_sort(
        self, items: Sequence[Sortable], target: str | os.PathLike[str], way: str = "copy", least: float = 0.5
    ) -> SortPlan:
        """What `sort` would do."""
        return sorting.plan_sorting(self.file, self.folder, items, target, way, least)

    def sort(self, plan: SortPlan) -> SortOutcome:
        """Do what the plan says."""
        return sorting.apply_plan(self.file, self.folder, plan)

    def undo_sort(self, target: str | os.PathLike[str] | None = None) -> SortOutcome:
        """Remove what the last sorting made and is unchanged."""
        return sorting.undo_sorting(self.file, self.folder, target)

    # Inside.

    def _say(self, acts: Acts | Callable[[], Acts], request: str | None, notes: Notes = ()) -> Written:
        """Write acts; those that depend on what holds are made when nobody else can write."""

        def made() -> Acts:
            self.refresh()
            return acts() if callable(acts) else acts

        with self._lock:
            written = self.file.append(self.who, self.session, made, request, notes)
            self.refresh()
        return written

    def _answer(
        self, act: Callable[[str], Act], images: Images, asked: AskedOf, request: str | None, notes: Notes
    ) -> Written:
        """The same about each image."""

        def acts() -> list[Draft]:
            how = asked.get if isinstance(asked, Mapping) else lambda image: asked
            return [Draft(act(image), how(image)) for image in self._known(images)]

        return self._say(acts, request, notes)

    def _take_in(self, found: Found, source: str | os.PathLike[str], request: str | None) -> Imported:
        result = Imported(missing=found.missing, other_content=found.other_content, unreadable=found.unreadable)
        request = request or uuid.uuid4().hex
        self._say(lambda: self._import_acts(found.wishes, printable(source), request, result), request)
        result.disagreements = disagreements(self._present, self.files())
        return result

    def _import_acts(self, wishes: Sequence[Wish], source: str, request: str, result: Imported) -> list[Act]:
        """Those that change something, after the categories they need."""
        present = self._present
        categories: list[Act] = [Import(source)]
        keys: dict[str, str] = {}
        for wish in wishes:
            if wish.category is not None and wish.category not in keys:
                known = present.category_named(wish.category)
                if known is None:
                    known = f"{request}:{len(categories)}"  # the id that the event will have
                    categories.append(NewCategory(wish.category))
                    result.categories.append(wish.category)
                keys[wish.category] = known
        answers = [act for act in (self._import_act(wish, keys) for wish in dict.fromkeys(wishes)) if act is not None]
        result.n_new, result.n_same = len(answers), len(set(wishes)) - len(answers)
        return [*categories, *answers] if answers else []

    def _import_act(self, wish: Wish, keys: dict[str, str]) -> Act | None:
        standing = self._present.standing(wish.hash)
        mine = None if standing is None else standing.votes.get(self.who)
        key = None if wish.category is None else keys[wish.category]
        if mine == (wish.kind, key):
            return None
        if key is not None:
            return Label(wish.hash, key)
        return NoneOfThese(wish.hash) if wish.kind == "none" else Discard(wish.hash)

    def _join(self, source: str | os.PathLike[str]) -> Imported:
        """The events of both files, each once."""
        before = set(self.present.categories.values())
        n_new = self.file.insert(read_copy(source))
        present = self.present
        new = [name for name in present.categories.values() if name not in before]
        return Imported(n_new=n_new, categories=new, disagreements=disagreements(present, self.files()))

    def _known(self, images: Images) -> list[str]:
        """Content hashes of images that the project has."""
        wanted = [images] if isinstance(images, str) else list(dict.fromkeys(images))
        for image in wanted:
            if not self.file.read("SELECT 1 FROM files WHERE hash = ? LIMIT 1", (check_hash(image),)):
                raise InvalidInput(f"project: an image must be one that was read, got {shown(image)}.")
        if not wanted:
            raise InvalidInput("project: at least one image is needed, got none.")
        return wanted

    def _category(self, key: str) -> str:
        found = self._present.category(key)
        if found not in self._present.categories:
            raise InvalidInput(f"project: a category must be one of those that exist, got {shown(key)}.")
        return found

    def _free_name(self, name: str, of: str | None = None) -> str:
        """A name that no other category has, whatever the case."""
        name = check_name("category", name)
        other = self._present.category_named(name)
        if other is not None and other != of:
            known = self._present.categories[other]
            differs = "is there already" if known == name else f"differs from {known!r} in case only"
            raise InvalidInput(f"category: the name must be a new one, but {name!r} {differs}.")
        return name

    def _last_act(self, found: str | None, what: str) -> str:
        if found is None:
            raise InvalidInput(f"{what}: {self.who} has nothing left to {what}.")
        return found


def _answered(path: bytes, content: str, present: Present) -> Sortable | None:
    """A file as persons want it sorted; None if they say nothing, disagree, or discarded it."""
    standing = present.standing(content)
    if standing is None or standing.choice is None or standing.choice.kind == "discard":
        return None
    key = standing.choice.category
    return Sortable(path, content, None if key is None else present.categories[key], unknown=key is None)


def _account() -> str:
    """On this computer: a project may lie where several of them reach it."""
    return f"{check_person(None)}@{platform.node()}"


def check_person(who: str | None) -> str:
    """A person's name; the user's own where none is given."""
    if who is None:
        try:
            who = getpass.getuser()
        except (KeyError, OSError, ImportError):  # a user without a name
            who = "somebody"
    if not who.strip() or len(who) > LONGEST_NAME or not who.isprintable():
        raise InvalidInput(
            f"name: a person's name must have 1 to {LONGEST_NAME} characters in one line, got {shown(who)}."
        )
    return who.strip()
