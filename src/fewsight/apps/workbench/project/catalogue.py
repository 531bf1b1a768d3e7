"""The files and images that a project knows: what lies where, and which content each file has.

Paths are bytes, relative to the folder, with / between folders, so that any name can be kept and the folder may move.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.images.capture import Capture
from fewsight.images.files import printable

# A file that changed so shortly before it was read may change again without a new time: FAT counts in steps of two seconds.
UNSETTLED_NS = 3_000_000_000
NEVER = -1  # a time that no file has
NO_CAPTURE = Capture()

_INODES = 2**63 - 1  # SQLite's whole numbers have a sign


class Stamp(NamedTuple):
    """What changes when a file does: its size, the time of its last change and its number on the disk."""

    size: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino & _INODES)

    def settled(self, read_at_ns: int) -> Stamp:
        """The stamp to keep for a content that was read at this time; one that never matches if it is too fresh."""
        return self if read_at_ns - self.modified_ns > UNSETTLED_NS else self._replace(modified_ns=NEVER)


@dataclass(frozen=True)
class KnownFile:
    """A row of the table of files."""

    path: bytes
    hash: str | None  # None until the file was read
    stamp: Stamp
    unreadable: str | None = None
    vanished_at: int | None = None


@dataclass(frozen=True)
class Reading:
    """What one reading of a file gave: its content and what that shows, or why it is unreadable."""

    path: bytes
    stamp: Stamp  # from before it was read
    hash: str | None
    unreadable: str | None = None
    width: int | None = None
    height: int | None = None
    capture: Capture = NO_CAPTURE
    read_at_ns: int = 0


def known_files(project: ProjectFile) -> dict[bytes, KnownFile]:
    """Every file that was ever seen and not found elsewhere since, by path."""
    rows = project.read("SELECT path, hash, size, modified_ns, inode, unreadable, vanished_at FROM files ORDER BY path")
    return {bytes(row[0]): KnownFile(row[0], row[1], Stamp(*row[2:5]), *row[5:]) for row in rows}  # type: ignore[arg-type]


def captures(project: ProjectFile) -> dict[str, Capture]:
    """Time and camera of each image, by hash."""
    rows = project.read("SELECT hash, taken_at, camera FROM images")
    return {str(row[0]): Capture(row[1], row[2]) for row in rows}  # type: ignore[arg-type]


def record(project: ProjectFile, readings: Sequence[Reading]) -> None:
    """Keep what was read of some files, unless they have changed since."""
    with project.writing() as connection:
        connection.executemany(
            "UPDATE files SET hash = ?, unreadable = ?, modified_ns = ? "
            "WHERE path = ? AND size = ? AND modified_ns = ? AND inode = ?",
            [
                (each.hash, each.unreadable, each.stamp.settled(each.read_at_ns).modified_ns, each.path, *each.stamp)
                for each in readings
            ],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO images VALUES (?, ?, ?, ?, ?)",
            [(each.hash, each.width, each.height, *each.capture) for each in readings if each.hash and each.width],
        )


def replace(project: ProjectFile, changed: Iterable[KnownFile], removed: Iterable[bytes]) -> None:
    """Rows as they are now, and those that are no more, in one transaction."""
    rows = [(each.path, each.hash, *each.stamp, each.unreadable, each.vanished_at) for each in changed]
    paths = [(path,) for path in removed]
    if rows or paths:
        with project.writing() as connection:
            connection.executemany("DELETE FROM files WHERE path = ?", paths)
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def relative_path(text: str) -> bytes:
    """A relative path as it is kept."""
    return os.fsencode(text.replace(os.sep, "/") if os.sep != "/" else text)


def absolute_path(folder: str | os.PathLike[str], path: bytes) -> str:
    """Where a file of the project lies."""
    return os.path.join(os.fspath(folder), os.fsdecode(path).replace("/", os.sep))


def shown_path(path: bytes) -> str:
    """A path for people: one line."""
    return printable(os.fsdecode(path))


def in_folder(folder: Path, path: str | os.PathLike[str]) -> bytes | None:
    """The relative path of a file inside the folder; None for one outside."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    except ValueError:  # on another drive of Windows
        return None
    outside = relative == os.pardir or relative.startswith(os.pardir + os.sep) or os.path.isabs(relative)
    return None if outside else relative_path(relative)


def now_us() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000
