"""What has changed in a folder of images since it was last looked at: new, changed, vanished, moved, broken files.

A file whose size, time and number are as before is the same; nothing of it is read. Content is known by its hash, so a file
that was renamed, moved or copied keeps its labels, and other content under an old name does not get them. Only files that could
be such (an old name, or the size of a known content) are read here; the rest waits until their turn comes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from fewsight._base.errors import InvalidInput, ProjectError, UnreadableImage
from fewsight._base.progress import track
from fewsight.apps.workbench.project import catalogue
from fewsight.apps.workbench.project.catalogue import KnownFile, Stamp, absolute_path, known_files, relative_path
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.apps.workbench.project.location import check_folder
from fewsight.images.files import printable, read_bytes, reason_of, reason_to_refuse
from fewsight.images.hashing import hash_of
from fewsight.images.listing import Identity, identity_of, is_folder, is_meant_as_image, visible_entries

Reader = Callable[[str], str]  # from a path to the hash of its content; raises UnreadableImage


@dataclass
class Scan:
    """What was found. Paths are those of `catalogue`."""

    n_files: int = 0
    new: list[bytes] = field(default_factory=list)
    changed: list[bytes] = field(default_factory=list)  # and not read before, so that nobody knows what they were
    replaced: list[bytes] = field(
        default_factory=list
    )  # other content under an old name; it has none of the old labels
    moved: list[tuple[bytes, bytes]] = field(default_factory=list)  # from, to
    copies: list[tuple[bytes, bytes]] = field(default_factory=list)  # of a file that is there; new
    vanished: list[bytes] = field(default_factory=list)
    returned: list[bytes] = field(default_factory=list)
    broken: dict[bytes, str] = field(default_factory=dict)  # and why
    unsaved: str | None = None  # why the project was not let know, where that did not matter


class _Found(NamedTuple):
    stamp: Stamp
    refused: str | None = None


def scan(
    project: ProjectFile,
    folder: str | os.PathLike[str],
    leave_out: Collection[str | os.PathLike[str]] = (),
    read: Reader | None = None,
    *,
    must_save: bool = True,
) -> Scan:
    """Compare the folder with what the project knows of it, and let the project know.

    Where the project cannot be written to, that is a ProjectError, or `unsaved` says so where it need not be saved.
    `leave_out` names files and folders that are none of the images: the project's own file, targets of a sorting.
    """
    folder = check_folder(folder)
    known = known_files(project)
    found = _Walk(folder, known, [*leave_out, project.path]).run()
    comparison = _Comparison(folder, known, found, read or _hash_of_file)
    result = comparison.result()
    try:
        catalogue.replace(project, comparison.rows.values(), comparison.removed)
    except ProjectError as error:
        if must_save:
            raise
        result.unsaved = str(error)
    return result


class _Comparison:
    """Known files against those that were found."""

    def __init__(self, folder: Path, known: dict[bytes, KnownFile], found: dict[bytes, _Found], read: Reader) -> None:
        self.folder, self.known, self.found, self.read = folder, known, found, read
        self.rows: dict[bytes, KnownFile] = {}  # that are not as they were
        self.removed: set[bytes] = set()
        gone = [file for path, file in known.items() if path not in found]
        there = [file for path, file in known.items() if path in found]
        self._gone = {file.path: file for file in gone if file.hash is not None}
        self._there_by_hash = {
            file.hash: file.path for file in there if file.hash and found[file.path].stamp == file.stamp
        }
        self._gone_by_hash: dict[str, list[bytes]] = {}
        for file in self._gone.values():
            self._gone_by_hash.setdefault(str(file.hash), []).append(file.path)
        self._by_stamp = {file.stamp: file for file in (*there, *gone) if file.hash and file.stamp.inode}
        self._sizes = {file.stamp.size for file in known.values() if file.hash}

    def result(self) -> Scan:
        result = Scan(len(self.found))
        for path, found in self.found.items():
            if found.refused is not None:
                result.broken[path] = found.refused
        different = [path for path, found in self.found.items() if not self._is_as_it_was(path, found)]
        doubtful = [path for path in different if self._must_be_read(path)]
        read = {path: self._content(path) for path in track(doubtful, "files that changed", len(doubtful))}
        for path in different:
            self._settle(path, read.get(path), result)
        self._let_go(result)
        result.broken |= {path: row.unreadable for path, row in self._present() if row.unreadable}
        return result

    def _is_as_it_was(self, path: bytes, found: _Found) -> bool:
        known = self.known.get(path)
        same = known is not None and known.vanished_at is None and known.stamp == found.stamp
        return same and (found.refused is None or found.refused == known.unreadable)  # type: ignore[union-attr]

    def _must_be_read(self, path: bytes) -> bool:
        """Whether this may be content that is known under this name or another one."""
        found, known = self.found[path], self.known.get(path)
        if found.refused is not None or (known is not None and known.stamp == found.stamp):
            return False
        if known is not None and known.hash is not None:
            return True
        return found.stamp not in self._by_stamp and found.stamp.size in self._sizes

    def _content(self, path: bytes) -> KnownFile:
        stamp, read_at = self.found[path].stamp, time.time_ns()
        try:
            return KnownFile(path, self.read(absolute_path(self.folder, path)), stamp.settled(read_at))
        except UnreadableImage as error:
            return KnownFile(path, None, stamp, error.reason)

    def _settle(self, path: bytes, content: KnownFile | None, result: Scan) -> None:
        """Decide what a file is that is not as it was."""
        found, known = self.found[path], self.known.get(path)
        row = content or KnownFile(path, None, found.stamp, found.refused)
        if known is None:
            row = self._settle_new(row, result)
        elif known.stamp == found.stamp and found.refused is None:  # it was away
            row = replace(known, vanished_at=None)
            result.returned.append(path)
        elif known.hash is None:
            result.changed.append(path)
        elif row.hash is not None and row.hash != known.hash:
            result.replaced.append(path)
            origin = self._taken(row.hash)
            result.moved.extend([] if origin is None else [(origin, path)])
        elif known.vanished_at is not None:
            result.returned.append(path)
        self.rows[path] = row

    def _settle_new(self, row: KnownFile, result: Scan) -> KnownFile:
        same = self._by_stamp.get(row.stamp)
        if row.hash is None and row.unreadable is None and same is not None:  # a rename keeps the file's number
            row = replace(row, hash=same.hash)
        origin = None if row.hash is None else self._taken(row.hash)
        if origin is not None:
            result.moved.append((origin, row.path))
        elif row.hash in self._there_by_hash:
            result.copies.append((self._there_by_hash[row.hash], row.path))
        else:
            result.new.append(row.path)
        return row

    def _taken(self, content: str) -> bytes | None:
        """A file with this content that is gone, which is forgotten: it lies elsewhere now."""
        waiting = self._gone_by_hash.get(content)
        if not waiting:
            return None
        path = waiting.pop()
        del self._gone[path]
        self.removed.add(path)
        return path

    def _let_go(self, result: Scan) -> None:
        """Files that are gone are kept in mind, for their labels; those that were never read are not."""
        now = catalogue.now_us()
        for path, file in self.known.items():
            if path in self.found or path in self.removed:
                continue
            if file.hash is None:
                self.removed.add(path)
            if file.vanished_at is None:
                result.vanished.append(path)
                if file.hash is not None:
                    self.rows[path] = replace(file, vanished_at=now)

    def _present(self) -> Iterator[tuple[bytes, KnownFile]]:
        for path in self.found:
            row = self.rows.get(path) or self.known.get(path)
            if row is not None:
                yield path, row


class _Walk:
    """Every file that is meant as an image, by relative path. Links are followed; no folder is entered twice."""

    def __init__(self, folder: Path, known: Collection[bytes], leave_out: Iterable[str | os.PathLike[str]]) -> None:
        self.folder, self.known = folder, known
        self.entered, self.files_left_out = _identities(leave_out)
        self.waiting: list[str] = []
        self.found: dict[bytes, _Found] = {}

    def run(self) -> dict[bytes, _Found]:
        try:
            self._enter("")
        except OSError as error:
            reason = reason_of(error, self.folder)
            raise InvalidInput(f"{printable(self.folder)}: must be a folder that can be read, got: {reason}.") from None
        while self.waiting:
            relative = self.waiting.pop()
            try:
                self._enter(relative)
            except OSError as error:
                self._refuse(relative_path(relative), reason_of(error, self.folder / relative))
        return self.found

    def _enter(self, relative: str) -> None:
        folder = os.path.join(self.folder, relative)
        identity = identity_of(folder)
        if identity in self.entered:
            return
        self.entered.add(identity)
        for entry in visible_entries(folder):
            name = os.path.join(relative, entry.name)
            if is_folder(entry):
                self.waiting.append(name)
            elif (path := relative_path(name)) in self.known or is_meant_as_image(entry.path):
                self._look(entry, path)

    def _look(self, entry: os.DirEntry[str], path: bytes) -> None:
        try:
            # Windows gives no file number with a name.
            status = entry.stat() if os.name == "posix" else os.stat(entry.path)
        except OSError as error:
            self._refuse(path, reason_of(error, entry.path))
            return
        if (status.st_dev, status.st_ino) not in self.files_left_out:
            self.found[path] = _Found(Stamp.of(status), reason_to_refuse(status))

    def _refuse(self, path: bytes, reason: str) -> None:
        self.found[path] = _Found(Stamp(0, catalogue.NEVER, 0), reason)


def _identities(leave_out: Iterable[str | os.PathLike[str]]) -> tuple[set[Identity], set[Identity]]:
    """Of the folders and of the files that are left out, as far as they are there."""
    folders: set[Identity] = set()
    files: set[Identity] = set()
    for path in leave_out:
        try:
            (folders if os.path.isdir(path) else files).add(identity_of(os.fspath(path)))
        except OSError:
            continue
    return folders, files


def _hash_of_file(path: str) -> str:
    return hash_of(read_bytes(path))
