"""One file of a sorting: made, moved, and taken back; whole under its name or not at all, and never over another file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.apps.workbench.project.catalogue import absolute_path
from fewsight.images.files import printable, read_bytes, reason_of
from fewsight.images.hashing import hash_of

TEMPORARY = ".writing-sorted"  # beside its place; one at a time in a folder
HOPELESS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
}  # the next file fares no better


@dataclass(frozen=True)
class Placed:
    """A file to make, or that was made: where it comes from and where it goes, relative to the target."""

    source: bytes
    target: bytes
    hash: str
    sorting: int = 0


def make_file(way: str, folder: Path, target: Path, row: Placed) -> str | None:
    """Make one file; why not, if it could not be made."""
    source, place = absolute_path(folder, row.source), absolute_path(target, row.target)
    try:
        if content_of(source) != row.hash:
            return "it has changed or cannot be read, so it was not sorted"
        _MAKERS[way](source, place, row.hash)
    except FileExistsError:
        return (
            None
            if content_of(place) == row.hash
            else "a file of this name appeared in the target, so it was not sorted"
        )
    except UnreadableImage as error:
        return error.reason
    except OSError as error:
        if error.errno in HOPELESS:
            at_fault = source if error.filename == source and error.filename2 is None else place
            raise InvalidInput(
                f"{printable(at_fault)}: {reason_of(error, at_fault)}; what was sorted so far is kept, "
                "and a repeated run goes on."
            ) from None
        return reason_of(error, source)
    return None


def _copy(source: str, place: str, content: str) -> None:
    """Whole under its name, or not at all, and never over another file."""
    temporary = os.path.join(os.path.dirname(place), TEMPORARY)
    try:
        shutil.copyfile(source, temporary)
        with contextlib.suppress(OSError):
            shutil.copystat(source, temporary)
        _flush(temporary)
        if content_of(temporary) != content:
            raise UnreadableImage(printable(source), "it changed while it was copied")
        _rename(temporary, place)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _hardlink(source: str, place: str, content: str) -> None:
    os.link(source, place)


def _symlink(source: str, place: str, content: str) -> None:
    os.symlink(os.path.abspath(source), place)


def _move(source: str, place: str, content: str) -> None:
    """The original goes when its copy is whole and in its place."""
    try:
        _rename(source, place, keep=True)
    except FileExistsError:
        raise
    except OSError:  # another disk
        _copy(source, place, content)
    os.unlink(source)


_MAKERS: dict[str, Callable[[str, str, str], None]] = {
    "copy": _copy,
    "hardlink": _hardlink,
    "symlink": _symlink,
    "move": _move,
}


def finish_move(folder: Path, target: Path, row: Placed) -> str | None:
    """The original goes, if its other name still stands in its place."""
    source = absolute_path(folder, row.source)
    if content_of(absolute_path(target, row.target)) == row.hash == content_of(source):
        os.unlink(source)
    return None


def _rename(source: str, place: str, keep: bool = False) -> None:
    """Give a file a second name (and take the first, unless it is to be kept); FileExistsError if the name is taken."""
    try:
        os.link(source, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if keep:
            raise
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, "exists", place) from None
        os.rename(source, place)


def _flush(path: str) -> None:
    with contextlib.suppress(OSError), open(path, "rb+") as stream:
        os.fsync(stream.fileno())


def remove_file(folder: Path, target: Path, row: Placed, way: str) -> str | None:
    """Remove one file that was made, or say why it stays."""
    source, place = absolute_path(folder, row.source), absolute_path(target, row.target)
    if not os.path.lexists(place):
        lost = way == "move" and not os.path.lexists(source)
        return f"it is no longer at {printable(place)}, so it cannot be moved back" if lost else None
    if not is_made(folder, target, row, way):
        return f"{printable(place)} has changed since, so it stays"
    try:
        if way == "move":
            if os.path.lexists(source) and content_of(source) != row.hash:
                return f"another file took its old place, so it stays in {printable(place)}"
            _move_back(source, place, row.hash)
        elif content_of(source) != row.hash:
            return f"the original is gone, so {printable(place)} stays"
        else:
            os.unlink(place)
    except OSError as error:
        return f"{printable(place)} could not be removed: {reason_of(error, place)}"
    return None


def _move_back(source: str, place: str, content: str) -> None:
    if os.path.lexists(source):  # a killed run left both
        os.unlink(place)
        return
    os.makedirs(os.path.dirname(source), exist_ok=True)
    _move(place, source, content)


def is_made(folder: Path, target: Path, row: Placed, way: str) -> bool:
    """Whether the file stands in its place, as it was made."""
    place = absolute_path(target, row.target)
    if way == "symlink":
        return os.path.islink(place) and os.readlink(place) == os.path.abspath(absolute_path(folder, row.source))
    return not os.path.islink(place) and content_of(place) == row.hash


def content_of(path: str) -> str | None:
    """The hash of a file's content; None if it cannot be read."""
    try:
        return hash_of(read_bytes(path))
    except UnreadableImage:
        return None
