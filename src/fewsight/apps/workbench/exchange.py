"""Labels from elsewhere and for elsewhere: a CSV table, class folders, another project file.

A label belongs to content. A table names files, so each is looked up in the folder, or by the hash that our own tables have
beside the name; class folders are compared by content with the images of the project. Nothing is guessed: what cannot be
matched is listed.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.progress import track
from fewsight._base.replacement import replacing
from fewsight.apps.workbench import scan as scanning
from fewsight.apps.workbench import sort as sorting
from fewsight.apps.workbench.project import catalogue
from fewsight.apps.workbench.project.catalogue import (
    KnownFile,
    Reading,
    absolute_path,
    in_folder,
    known_files,
)
from fewsight.apps.workbench.project.events import check_name
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.apps.workbench.project.present import Present
from fewsight.apps.workbench.result_kinds import LABEL_COLUMNS
from fewsight.images.cells import as_cell, from_cell
from fewsight.images.files import printable, read_bytes
from fewsight.images.hashing import hash_of
from fewsight.images.image import ImageFile
from fewsight.images.image_set import ImageSet, image_set_from_class_folders
from fewsight.images.table import CATEGORY_COLUMNS, FILE_COLUMNS, FilesByName, delimiter_of, text_of_table

CATEGORY, NONE, DISCARDED, DISAGREEMENT = "category", "none of these", "discarded", "disagreement"
_KINDS = {CATEGORY: "label", NONE: "none", DISCARDED: "discard"}
_ANSWERS = {kind: answer for answer, kind in _KINDS.items()}
OTHER_CONTENT = "other content under an old name, so the old label does not count"


@dataclass(frozen=True)
class Wish:
    """What a source says about one image: label (with a category's name), none or discard."""

    hash: str
    kind: str
    category: str | None = None


@dataclass
class Found:
    """What a source of labels holds, matched with the images of the project."""

    wishes: list[Wish] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # named, and not among the images
    other_content: list[str] = field(default_factory=list)  # there, but with other content than the label was given to
    unreadable: list[UnreadableImage] = field(default_factory=list)


@dataclass(frozen=True)
class Exported:
    """How many rows were written, and how many labels had no file to go with."""

    n_rows: int
    n_without_file: int


# Out.


def export_table(path: str | os.PathLike[str], project: ProjectFile, present: Present) -> Exported:
    """Write a row for each file that somebody said something about; `learn --labels` and `import` read it."""
    standings = present.standings()
    rows = list(_exported_rows(known_files(project), present))
    with replacing(Path(path)) as stream:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([LABEL_COLUMNS, *([as_cell(cell) for cell in row] for row in rows)])
        stream.write(text.getvalue().encode("utf-8", "surrogateescape"))
    return Exported(len(rows), len(set(standings) - {row[3] for row in rows}))


def _exported_rows(files: Mapping[bytes, KnownFile], present: Present) -> Iterator[tuple[str, str, str, str, str]]:
    """Files that are there before those that vanished, of which one is enough."""
    standings, written = present.standings(), set()
    for path, file in sorted(files.items(), key=lambda item: (item[1].vanished_at is not None, item[0])):
        standing = None if file.hash is None else standings.get(file.hash)
        if standing is None or (file.vanished_at is not None and file.hash in written):
            continue
        written.add(file.hash)
        choice = standing.choice
        category = "" if choice is None or choice.category is None else present.categories[choice.category]
        answer = DISAGREEMENT if choice is None else _ANSWERS[choice.kind]
        yield os.fsdecode(path), category, answer, str(file.hash), "; ".join(sorted(standing.votes))


def image_set_from_project(folder: Path, file: Path) -> ImageSet | None:
    """The images of the folder that people labelled, each content once, and those of no category, by a project file; None where
    there are no labels.

    The folder is looked at first: labels follow files that were moved, and other content under an old name is listed.
    """
    with ProjectFile(file, create=False) as project:
        replaced = _replaced(project, folder)
        present, files = Present([event for _, event in project.events()]), known_files(project)
    labels, standings = present.labels(), present.standings()
    none = {image for image, each in standings.items() if each.choice is not None and each.choice.kind == "none"}
    there = {
        file.hash: path for path, file in sorted(files.items(), reverse=True) if file.hash and not file.vanished_at
    }
    chosen = sorted((path, content) for content, path in there.items() if content in labels)
    if not chosen:
        return None
    images = [ImageFile(absolute_path(folder, path), content) for path, content in chosen]
    outsiders = sorted((path, content) for content, path in there.items() if content in none)
    return ImageSet(
        images,
        [present.categories[labels[content]] for _, content in chosen],
        unreadable=[
            UnreadableImage(printable(absolute_path(folder, path)), OTHER_CONTENT)
            for path in replaced
            if files[path].hash not in standings
        ],
        outsiders=[ImageFile(absolute_path(folder, path), content) for path, content in outsiders],
    )


def _replaced(project: ProjectFile, folder: Path) -> list[bytes]:
    """Files that have another content than they had when the folder was last looked at, which it is now."""
    if not project.writable:
        return []
    return scanning.scan(project, folder, sorting.targets_left_out(project)).replaced


# In.


def read_table(csv_path: str | os.PathLike[str], project: ProjectFile, folder: Path) -> Found:
    """The labels of a table, for files of the folder."""
    found, content, files = Found(), _Contents(project, folder), FilesByName(os.fspath(folder))
    for file, category, answer, given in _rows(csv_path):
        kind = _KINDS.get(answer) or ("label" if category else None)
        if kind is None:  # unlabelled, or a disagreement
            continue
        path = in_folder(folder, files.find(file)[0])
        now = None if path is None else content.of(path)
        if given and now != given and content.finds(given):
            now = given  # renamed since
        if now is None:
            found.missing.append(printable(file))
        elif given and now != given:
            found.other_content.append(printable(file))
        else:
            found.wishes.append(Wish(now, kind, check_name(printable(csv_path), category) if kind == "label" else None))
    content.keep()
    _check_consistent(found.wishes, printable(csv_path))
    return found


def read_class_folders(source: str | os.PathLike[str], project: ProjectFile, folder: Path) -> Found:
    """The labels of a folder of class folders, such as `sort` makes, for images of the same content."""
    images = image_set_from_class_folders(source)
    found, content = Found(unreadable=list(images.unreadable)), _Contents(project, folder)
    pairs = [
        (image.path, label)
        for image, label in zip(images.images, images.labels, strict=True)
        if isinstance(image, ImageFile)
    ]
    content.read_all_of({os.path.getsize(path) for path, _ in pairs if os.path.exists(path)})
    for path, label in track(pairs, "images", len(pairs)):
        try:
            image = hash_of(read_bytes(path))
        except UnreadableImage as error:
            found.unreadable.append(error)
            continue
        if content.is_known(image):
            found.wishes.append(Wish(image, "label", check_name(printable(source), label)))
        else:
            found.missing.append(printable(path))
    content.keep()
    _check_consistent(found.wishes, printable(source))
    return found


class _Contents:
    """The content of the project's files; those that were not read yet are, where it matters."""

    def __init__(self, project: ProjectFile, folder: Path) -> None:
        self._project, self._folder = project, folder
        self._files = known_files(project)
        self._hashes = {file.hash for file in self._files.values() if file.hash}
        self._read: list[Reading] = []
        self._tried: dict[bytes, str | None] = {}  # files that were read here

    def is_known(self, content: str) -> bool:
        return content in self._hashes

    def of(self, path: bytes) -> str | None:
        """The hash of a file's content; None if it is none of the images that are there."""
        file = self._files.get(path)
        if file is None or file.unreadable is not None or file.vanished_at is not None:
            return None
        return file.hash or self._now(file)

    def finds(self, content: str) -> bool:
        """Whether some file has this content, also if all that were not read yet must be."""
        if content not in self._hashes:
            self.read_all_of({file.stamp.size for file in self._unread()})
        return content in self._hashes

    def read_all_of(self, sizes: set[int]) -> None:
        """Read the files of these sizes that were not read yet."""
        waiting = [file for file in self._unread() if file.stamp.size in sizes]
        for file in track(waiting, "files", len(waiting)):
            self._now(file)

    def keep(self) -> None:
        """Let the project know what was read."""
        catalogue.record(self._project, self._read)

    def _unread(self) -> list[KnownFile]:
        files = (file for file in self._files.values() if file.path not in self._tried)
        return [file for file in files if not (file.hash or file.unreadable or file.vanished_at)]

    def _now(self, file: KnownFile) -> str | None:
        if file.path in self._tried:
            return self._tried[file.path]
        self._tried[file.path] = self._content(file)
        return self._tried[file.path]

    def _content(self, file: KnownFile) -> str | None:
        at = catalogue.now_us() * 1000
        try:
            content = hash_of(read_bytes(absolute_path(self._folder, file.path)))
        except UnreadableImage:
            return None
        self._hashes.add(content)
        self._read.append(Reading(file.path, file.stamp, content, read_at_ns=at))
        return content


def _rows(csv_path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str, str]]:
    """File, category, answer and hash of each row; a missing column is empty."""
    text = text_of_table(csv_path, "the table of labels")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        heading = [cell.strip().lower() for cell in next(reader, [])]
        columns = [_column(heading, names) for names in (FILE_COLUMNS, CATEGORY_COLUMNS, ("answer",), ("hash",))]
        if columns[0] is None or columns[1] is None:
            raise InvalidInput(
                f"{printable(csv_path)}: the first line must name the columns file and category, "
                f"got {printable(', '.join(heading))[:200] or 'nothing'}."
            )
        for cells in reader:
            values = ["" if place is None or place >= len(cells) else cells[place].strip() for place in columns]
            if values[0]:
                yield from_cell(values[0]), from_cell(values[1]), values[2].lower(), values[3].lower()
    except csv.Error as error:
        raise InvalidInput(
            f"{printable(csv_path)}: the table must be CSV, got an error in line {reader.line_num}: {error}."
        ) from None


def _column(heading: list[str], names: Iterable[str]) -> int | None:
    return next((heading.index(name) for name in names if name in heading), None)


def _check_consistent(wishes: list[Wish], source: str) -> None:
    """One content with two categories is a mistake of the source."""
    known: dict[str, Wish] = {}
    for wish in wishes:
        first = known.setdefault(wish.hash, wish)
        if first != wish:
            raise InvalidInput(
                f"{source}: an image must have one category, got {_said(first)} and {_said(wish)} for the same content."
            )


def _said(wish: Wish) -> str:
    return repr(wish.category) if wish.category is not None else _ANSWERS[wish.kind]
