"""Images into one folder for each category. A plan first; nothing is overwritten, nothing is deleted, all of it can be undone.

Every file that will be made is written down in the project as *planned* before it is made, and as *done* afterwards. What a
killed run left is told from the disk: a planned file that stands there with the right content was made. So a repeated run goes
on where the last one ended, and undo removes exactly what was made and has not changed since, if its original is still there.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from fewsight._base.checks import check_choice
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.progress import track
from fewsight.apps.workbench.project.catalogue import absolute_path, in_folder, now_us, relative_path
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.apps.workbench.sorted_file import (
    TEMPORARY,
    Placed,
    content_of,
    finish_move,
    is_made,
    make_file,
    remove_file,
)
from fewsight.apps.workbench.target_names import FolderNames, TakenNames
from fewsight.images.files import printable, reason_of

UNSURE, UNKNOWN = "_unsure", "_unknown"
WAYS = ("copy", "hardlink", "symlink", "move")
BATCH = 64  # files between two commits


@dataclass(frozen=True)
class Sortable:
    """A file of the project and what is known or believed about it."""

    path: bytes
    hash: str
    category: str | None
    confidence: float = 1.0
    unknown: bool = False


@dataclass(frozen=True)
class SortPlan:
    """What will happen to which file; nothing has happened yet."""

    target: Path
    way: str
    files: tuple[Placed, ...]
    folders: tuple[bytes, ...]  # that are to be made
    taken_back: tuple[Placed, ...] = ()  # of an earlier sorting, because their category is another one now
    half_moved: tuple[Placed, ...] = ()  # by a run that was killed; their originals are still to go
    gone: tuple[Placed, ...] = ()  # of an earlier sorting, removed by hand since; they are made again
    n_in_place: int = 0  # made by an earlier sorting already

    @property
    def counts(self) -> dict[str, int]:
        """Files for each folder, by its name."""
        return dict(sorted(Counter(os.fsdecode(file.target.split(b"/")[0]) for file in self.files).items()))


@dataclass
class SortOutcome:
    """What was done, and which files were left alone, with the reason for each."""

    n_done: int = 0
    left: list[UnreadableImage] = field(default_factory=list)
    n_earlier: int = (
        0  # after undo: files of earlier sortings into the same target, if the same undo takes those back next
    )


def plan_sorting(
    project: ProjectFile,
    folder: Path,
    items: Iterable[Sortable],
    target: str | os.PathLike[str],
    way: str = "copy",
    least: float = 0.5,
) -> SortPlan:
    """Where each file would go: its category's folder, `_unknown`, or `_unsure` without a category or below `least`."""
    check_choice("sort", "way", way, WAYS)
    place = check_target(Path(target), folder, way)
    half_moved = _settle_planned(project, folder, place)
    earlier = {row.source: row for row in (*_rows(project, place, "done"), *half_moved)}
    names, taken = FolderNames((UNSURE, UNKNOWN)), _names_in(place)
    files: list[Placed] = []
    taken_back: list[Placed] = []
    gone: list[Placed] = []
    n_in_place = 0
    for item in sorted(items, key=lambda item: item.path):
        inside = _folder_of(item, names, least)
        before = earlier.get(item.path)
        if before is not None and before.hash != item.hash:
            before = None
        if before is not None and not _is_in(place, before, taken):
            gone.append(before)
            before = None
        now = before.target if before else in_folder(place, absolute_path(folder, item.path))
        if now is not None and now.startswith(os.fsencode(inside) + b"/"):
            n_in_place += 1
            continue
        taken_back.extend([before] if before else [])
        name = taken.setdefault(inside, TakenNames()).take(os.path.basename(os.fsdecode(item.path)))
        files.append(Placed(item.path, relative_path(os.path.join(inside, name)), item.hash))
    used = {file.target.split(b"/")[0] for file in files}
    new = [each for each in sorted({b"", *used}) if not (place / os.fsdecode(each)).is_dir()] if files else []
    return SortPlan(place, way, tuple(files), tuple(new), tuple(taken_back), tuple(half_moved), tuple(gone), n_in_place)


def apply_plan(project: ProjectFile, folder: Path, plan: SortPlan) -> SortOutcome:
    """Do what the plan says."""
    outcome = SortOutcome()
    _note(project, plan.gone, "undone")
    if plan.taken_back:
        _take_back(project, folder, plan.target, plan.taken_back, outcome)
        outcome.n_done = 0
    _run(project, plan.half_moved, "done", lambda row: finish_move(folder, plan.target, row), outcome)
    if plan.files:
        sorting = _begin(project, plan)
        _make_folders(project, plan, sorting)
        rows = [Placed(file.source, file.target, file.hash, sorting) for file in plan.files]
        _run(project, rows, "done", lambda row: make_file(plan.way, folder, plan.target, row), outcome)
    return outcome


def undo_sorting(project: ProjectFile, folder: Path, target: str | os.PathLike[str] | None = None) -> SortOutcome:
    """Remove what the last sorting made (into this target, if one is named), as far as it is unchanged."""
    found = last_sorting(project, target)
    if found is None:
        raise InvalidInput("sort: nothing that was sorted is left to undo.")
    number, place = found
    outcome = SortOutcome()
    rows = [row for row in (*_rows(project, place, "done"), *_rows(project, place, "planned")) if row.sorting == number]
    is_there = [os.path.lexists(absolute_path(place, row.target)) for row in rows]
    there, gone = (
        [row for row, here in zip(rows, is_there, strict=True) if here is wanted] for wanted in (True, False)
    )
    moved = _ways(project)[number] == "move"
    lost = [row for row in gone if moved and not os.path.lexists(absolute_path(folder, row.source))]
    if lost and not there:
        raise InvalidInput(
            f"sort: {printable(place)}: must hold the files that were moved there, got none of them; put the folder back "
            "(or connect its disk), then undo again."
        )
    _take_back(project, folder, place, [*there, *lost], outcome)
    _note(project, gone, "undone")
    _remove_folders(project, place, number)
    following = last_sorting(project, target)
    if following is not None and following[1] == place:
        stay = _rows(project, place, "done")
        outcome.n_earlier = sum(os.path.lexists(absolute_path(place, row.target)) for row in stay)
    return outcome


def last_sorting(project: ProjectFile, target: str | os.PathLike[str] | None = None) -> tuple[int, Path] | None:
    """The number and the target of the last sorting that is not undone."""
    rows = project.read(
        "SELECT id, target FROM sortings WHERE EXISTS "
        "(SELECT 1 FROM sorted WHERE sorting = id AND state != 'undone') ORDER BY id DESC"
    )
    wanted = None if target is None else os.fsencode(os.path.abspath(target))
    found = ((int(row[0] or 0), bytes(row[1])) for row in rows)  # type: ignore[arg-type]
    chosen = next(((number, place) for number, place in found if wanted in (None, place)), None)
    return None if chosen is None else (chosen[0], Path(os.fsdecode(chosen[1])))


def targets_left_out(project: ProjectFile) -> list[Path]:
    """Folders whose images are copies of others of the project, which a scan passes over."""
    rows = project.read("SELECT DISTINCT target FROM sortings WHERE way != 'move'")
    return [Path(os.fsdecode(bytes(row[0]))) for row in rows]  # type: ignore[arg-type]


def check_target(target: Path, folder: Path, way: str) -> Path:
    """A folder that images may be sorted into: not their own, and on the same disk where links are asked for."""
    place, images = Path(os.path.abspath(target)), Path(os.path.realpath(folder))
    if place.exists() and not place.is_dir():
        raise InvalidInput(f"{printable(target)}: a file; the name of a folder is needed.")
    real = Path(os.path.realpath(place))
    if real == images or real in images.parents:
        raise InvalidInput(f"{printable(target)}: the target must be another folder than the one the images lie in.")
    if way == "hardlink" and _device(place) != _device(images):
        raise InvalidInput(
            f"{printable(target)}: on another disk than the images, where hard links do not reach; use copies."
        )
    return place


def _folder_of(item: Sortable, names: FolderNames, least: float) -> str:
    if item.unknown:
        return UNKNOWN
    return UNSURE if item.category is None or item.confidence < least else names.of(item.category)


def _is_in(place: Path, row: Placed, folders: Iterable[str]) -> bool:
    """Whether a file that was made is still in the target: in its place, or in the folder that somebody moved it to."""
    name = os.path.basename(os.fsdecode(row.target))
    if os.path.lexists(absolute_path(place, row.target)):
        return True
    return any(content_of(os.path.join(place, each, name)) == row.hash for each in folders)


def _device(path: Path) -> int:
    """Of the nearest folder that is there."""
    for place in (path, *path.parents):
        with contextlib.suppress(OSError):
            return place.stat().st_dev
    return -1


def _names_in(target: Path) -> dict[str, TakenNames]:
    """The names that are taken in each folder of the target."""
    taken: dict[str, TakenNames] = {}
    with contextlib.suppress(OSError):
        for entry in os.scandir(target):
            with contextlib.suppress(OSError):
                taken[entry.name] = TakenNames(os.listdir(entry.path) if entry.is_dir() else ())
    return taken


# What is written down.


def _rows(project: ProjectFile, target: Path, state: str) -> list[Placed]:
    """Files of all sortings into a target."""
    found = project.read(
        "SELECT source, sorted.target, hash, sorting FROM sorted JOIN sortings ON sorting = id "
        "WHERE sortings.target = ? AND state = ? AND hash != '' ORDER BY sorting, sorted.target",
        (os.fsencode(target), state),
    )
    return [Placed(bytes(row[0]), bytes(row[1]), str(row[2]), int(row[3] or 0)) for row in found]  # type: ignore[arg-type]


def _begin(project: ProjectFile, plan: SortPlan) -> int:
    with project.writing() as connection:
        made = connection.execute(
            "INSERT INTO sortings (at, target, way) VALUES (?, ?, ?)", (now_us(), os.fsencode(plan.target), plan.way)
        )
        number = int(made.lastrowid or 0)
        rows = [(number, file.source, file.target, file.hash, "planned") for file in plan.files]
        rows += [(number, b"", name + b"/", "", "planned") for name in plan.folders]
        connection.executemany("INSERT INTO sorted VALUES (?, ?, ?, ?, ?)", rows)
    return number


def _note(project: ProjectFile, rows: Sequence[Placed], state: str) -> None:
    if rows:
        with project.writing() as connection:
            sql = "UPDATE sorted SET state = ? WHERE sorting = ? AND target = ?"
            connection.executemany(sql, [(state, row.sorting, row.target) for row in rows])


def _ways(project: ProjectFile) -> dict[int, str]:
    return {int(row[0] or 0): str(row[1]) for row in project.read("SELECT id, way FROM sortings")}


def _settle_planned(project: ProjectFile, folder: Path, target: Path) -> list[Placed]:
    """After a run that was killed: what was planned and stands there was done, the rest was not. Those half moved."""
    ways = _ways(project)
    half_moved = []
    for row in _rows(project, target, "planned"):
        made = is_made(folder, target, row, ways[row.sorting])
        if made and ways[row.sorting] == "move" and content_of(absolute_path(folder, row.source)) == row.hash:
            half_moved.append(row)
        else:
            _note(project, [row], "done" if made else "undone")
    return half_moved


# What is done to files.


def _run(
    project: ProjectFile, rows: Sequence[Placed], state: str, work: Callable[[Placed], str | None], outcome: SortOutcome
) -> None:
    """Work on files a batch at a time; those that were left alone are listed. A full disk ends it with what was done.

    What undo leaves alone belongs to its owner from then on, so it counts as undone.
    """
    remaining = iter(track(rows, "files", len(rows)))
    while batch := list(islice(remaining, BATCH)):
        finished: list[Placed] = []
        try:
            for row in batch:
                reason = work(row)
                outcome.n_done += reason is None
                if reason is None or state == "undone":
                    finished.append(row)
                if reason is not None:
                    outcome.left.append(UnreadableImage(printable(os.fsdecode(row.source)), reason))
        finally:
            _note(project, finished, state)


def _make_folders(project: ProjectFile, plan: SortPlan, sorting: int) -> None:
    for name in plan.folders:
        place = plan.target / os.fsdecode(name)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{printable(place)}: the folder cannot be made: {reason_of(error, place)}.") from None
    _note(project, [Placed(b"", name + b"/", "", sorting) for name in plan.folders], "done")


# And undone.


def _take_back(project: ProjectFile, folder: Path, target: Path, rows: Sequence[Placed], outcome: SortOutcome) -> None:
    ways = _ways(project)
    _run(project, rows, "undone", lambda row: remove_file(folder, target, row, ways[row.sorting]), outcome)


def _remove_folders(project: ProjectFile, target: Path, sorting: int) -> None:
    """Those that were made, if nothing else came into them."""
    sql = "SELECT target FROM sorted WHERE sorting = ? AND hash = '' AND state != 'undone' ORDER BY target DESC"
    for path in _paths(project.read(sql, (sorting,))):
        place = target / os.fsdecode(path.rstrip(b"/"))
        with contextlib.suppress(OSError):
            os.unlink(place / TEMPORARY)
        with contextlib.suppress(OSError):
            place.rmdir()
        _note(project, [Placed(b"", path, "", sorting)], "undone")


def _paths(rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    return (row[0] for row in rows if isinstance(row[0], bytes))
