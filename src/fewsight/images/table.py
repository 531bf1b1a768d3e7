"""A flat folder of images with a table of labels: CSV with a column for the file and one for the category."""

from __future__ import annotations

import codecs
import csv
import io
import os
import posixpath
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.images.cells import from_cell
from fewsight.images.files import MAX_FILE_BYTES, printable, read_bytes
from fewsight.images.image import ImageFile
from fewsight.images.image_set import ImageSet, check_folder
from fewsight.images.listing import Listing, files_below

FILE_COLUMNS = ("file", "filename", "path", "image")
CATEGORY_COLUMNS = ("category", "label", "class")
DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class _Row:
    line: int
    written: str  # the file as the table names it
    category: str | None
    file: str = ""  # its path
    missing: str | None = None  # why there is no such file, where more is known than that


def image_set_from_table(folder: str | os.PathLike[str], csv_path: str | os.PathLike[str]) -> ImageSet:
    """The images that a table names, in its order; paths are relative to the folder.

    The table is CSV (comma, semicolon or tab) in UTF-8 (or UTF-16 with a byte order mark) with a heading. Its column
    `file` (or filename, path, image) names the image, `category` (or label, class) its category; an empty category
    means that it is not known. Other columns are ignored. A name that differs in case, in how an accent is written or in
    backslashes finds its file, if only one is meant; so does one that is relative to the current directory. Files that are
    missing or unreadable are in `unreadable`.

    Parameters
    ----------
    folder : the folder that file names are relative to.
    csv_path : the table.
    """
    check_folder(folder)
    rows = _without_repetition(_found_rows(folder, csv_path), printable(csv_path))
    listing = Listing()
    for row in rows:
        if row.missing is None:
            listing.add_file(row.file)
        else:
            listing.unreadable.append(UnreadableImage(printable(row.file), row.missing))
    if not listing.paths:
        first = f", the first: {listing.unreadable[0]}" if listing.unreadable else ""
        raise InvalidInput(
            f"{printable(csv_path)}: the table must name images in {printable(folder)}, "
            f"got {len(rows)} rows and no image that can be read{first}."
        )
    label_of = {row.file: row.category for row in rows}
    labels = [label_of[path] for path in listing.paths]
    return ImageSet([ImageFile(path) for path in listing.paths], labels, unreadable=listing.unreadable)


def files_in_table(folder: str | os.PathLike[str], csv_path: str | os.PathLike[str]) -> list[str]:
    """The paths of all files that a table names, there or not; none if it is no table, which reading it will say."""
    try:
        return [row.file for row in _found_rows(folder, csv_path)]
    except InvalidInput:
        return []


def _found_rows(folder: str | os.PathLike[str], csv_path: str | os.PathLike[str]) -> Iterator[_Row]:
    """The rows with the paths of the files that they mean."""
    files = FilesByName(os.fspath(folder))
    for row in _rows(csv_path):
        path, reason = files.find(row.written)
        yield replace(row, file=path, missing=reason)


class FilesByName:
    """The files of a folder, found by names as people and other computers write them."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find(self, name: str) -> tuple[str, str | None]:
        """The path of the file that is meant, and None; or the path as it was written, and why there is no such file."""
        path = os.path.join(self._folder, name)
        if os.path.lexists(path) or "\0" in name:
            return path, None
        if (here := self._seen_from_here(name)) is not None:
            return here, None
        meant = self._by_name.get(_folded(name), [])
        if len(meant) == 1:
            return meant[0], None
        near = meant or self._by_last_part.get(_folded(name).rpartition("/")[2], [])
        if not near:
            return path, None  # what is wrong with it is said by who opens it
        listed = " or ".join(printable(os.path.relpath(each, self._folder)) for each in near[:3])
        return path, f"no such file; {'more than one could be meant' if meant else 'nearly'}: {listed}"

    def _seen_from_here(self, name: str) -> str | None:
        """A file of the folder whose name was written from the current directory, as `fewsight predict` does."""
        try:
            inside = os.path.relpath(os.path.abspath(name), os.path.abspath(self._folder))
        except ValueError:  # the folder is on another drive of Windows
            return None
        is_inside = inside.partition(os.sep)[0] != os.pardir and not os.path.isabs(inside)
        return os.path.join(self._folder, inside) if is_inside and os.path.lexists(name) else None

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Paths by the folded name inside the folder; looked up only where a name does not fit."""
        found: dict[str, list[str]] = {}
        for entry in files_below(self._folder):
            found.setdefault(_folded(os.path.relpath(entry.path, self._folder)), []).append(entry.path)
        return found

    @cached_property
    def _by_last_part(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, paths in self._by_name.items():
            found.setdefault(name.rpartition("/")[2], []).extend(paths)
        return found


def _folded(name: str) -> str:
    """What is the same for all ways to write a name: slashes, case, composed accents, a dot for the folder itself."""
    slashes = unicodedata.normalize("NFC", name.replace("\\", "/")).casefold()
    return posixpath.normpath(unicodedata.normalize("NFC", slashes))


def _rows(csv_path: str | os.PathLike[str]) -> Iterator[_Row]:
    name = printable(csv_path)
    text = text_of_table(csv_path, "the table of labels")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        heading = [column.strip().strip("\ufeff").lower() for column in next(reader, [])]
        file_column, category_column = _column(heading, FILE_COLUMNS, name), _column(heading, CATEGORY_COLUMNS, name)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield _row(cells, file_column, category_column, reader.line_num, name)
    except csv.Error as error:
        raise InvalidInput(f"{name}: the table must be CSV, got an error in line {reader.line_num}: {error}.") from None


def text_of_table(csv_path: str | os.PathLike[str], what: str) -> str:
    """A table as text. Bytes that are not UTF-8 are kept, as they may be part of a file's name."""
    content = bytes_of_table(csv_path, what)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    if b"\0" in content.partition(b"\n")[0]:
        raise InvalidInput(f"{printable(csv_path)}: {what} must be a text file with rows, got one that is no text.")
    return content.decode("utf-8-sig", "surrogateescape")


def bytes_of_table(path: str | os.PathLike[str], what: str, most: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a table; an InvalidInput that names the file and calls it `what` if there are none."""
    try:
        return read_bytes(path, most)
    except UnreadableImage as error:
        raise InvalidInput(f"{error.name}: {what} must be a file with rows, got: {error.reason}.") from None


def delimiter_of(text: str) -> str:
    """The delimiter that occurs most often in the heading."""
    heading = text.lstrip().partition("\n")[0]
    return max(DELIMITERS, key=heading.count)


def _column(heading: list[str], names: tuple[str, ...], table: str) -> int:
    for name in names:
        if name in heading:
            return heading.index(name)
    found = ", ".join(printable(column) for column in heading if column) or "none"
    raise InvalidInput(
        f"{table}: the first line must name a column {names[0]} (or {', '.join(names[1:])}), "
        f"got the columns {found[:200]}."
    )


def _row(cells: list[str], file_column: int, category_column: int, line: int, table: str) -> _Row:
    cells = cells + [""] * (1 + max(file_column, category_column) - len(cells))
    file, category = from_cell(cells[file_column].strip()), from_cell(cells[category_column].strip())
    if not file:
        raise InvalidInput(f"{table}: every row must name a file, got none in line {line}.")
    if any("\udc80" <= character <= "\udcff" for character in category):
        raise InvalidInput(
            f"{table}: categories must be written in UTF-8, got {shown(printable(category))} in line {line}; "
            "save the table as UTF-8."
        )
    return _Row(line, file, category or None)


def _without_repetition(rows: Iterator[_Row], table: str) -> list[_Row]:
    """One row for each file; a file with two different categories is an error, one with an empty category is not."""
    known: dict[str, _Row] = {}
    for row in rows:
        key = os.path.normpath(row.file)
        earlier = known.get(key)
        if earlier is None or earlier.category is None:
            known[key] = row if earlier is None else replace(earlier, category=row.category)
        elif row.category not in (None, earlier.category):
            raise InvalidInput(
                f"{table}: a file must have one category, got {earlier.category} in line {earlier.line} and "
                f"{row.category} in line {row.line} for {printable(row.written)}."
            )
    return list(known.values())
