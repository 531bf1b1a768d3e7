"""From a path to bytes: every file is looked at before it is opened, so that nothing hangs and nothing huge is read."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from pathlib import Path

from fewsight._base.errors import UnreadableImage

MAX_FILE_BYTES = 512 * 2**20

_KINDS = (
    (stat.S_ISDIR, "a folder, not a file"),
    (stat.S_ISFIFO, "a pipe, not a file"),
    (stat.S_ISSOCK, "a socket, not a file"),
    (stat.S_ISCHR, "a device, not a file"),
    (stat.S_ISBLK, "a device, not a file"),
)
_REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "a link that leads in a circle",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EISDIR: "a folder, not a file",
    errno.EIO: "the disk failed to read it",
}
_LOOKS_ESCAPED = re.compile(r"\\(?:[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def printable(path: str | os.PathLike[str]) -> str:
    """A path as it can be shown and written anywhere: control characters and bytes that are not UTF-8 are escaped.

    No two paths look alike: where a backslash is no separator, one that could be taken for an escape is doubled.

    >>> printable("caf\\udce9.jpg")
    'caf\\\\xe9.jpg'
    """
    text = os.fspath(path)
    shown = text if text.isascii() and text.isprintable() else "".join(map(_escaped, text))
    if "\\" not in text or os.sep == "\\" or (shown == text and not _LOOKS_ESCAPED.search(text)):
        return shown
    return "".join(_escaped(character) for character in text.replace("\\", "\\\\"))


def read_bytes(path: str | os.PathLike[str], most: int = MAX_FILE_BYTES) -> bytes:
    """All bytes of a regular file that is not empty and not larger than the limit, or an UnreadableImage that says why not."""
    name = printable(path)
    try:
        reason = reason_to_refuse(os.stat(path), most)
        content = b"" if reason else _read_regular(path, most)
    except OSError as error:
        raise UnreadableImage(name, reason_of(error, path)) from None
    except ValueError:  # a null character inside the path
        raise UnreadableImage(name, "no such file") from None
    except MemoryError:
        raise UnreadableImage(name, "needs more memory than there is") from None
    if reason or not content:
        raise UnreadableImage(name, reason or "empty file")
    return content


def read_start(path: str | os.PathLike[str], length: int) -> bytes:
    """The first bytes of a regular file; none if it cannot be read."""
    try:
        return b"" if reason_to_refuse(os.stat(path)) else _read_regular(path, length)
    except (OSError, ValueError):
        return b""


def stamp_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Changes when the file does; nothing for a file that is not there, which reading it will say."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def reason_to_refuse(status: os.stat_result, most: int = MAX_FILE_BYTES) -> str | None:
    """What a file's status alone says against reading it, or None."""
    for is_kind, reason in _KINDS:
        if is_kind(status.st_mode):
            return reason
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size == 0:
        return "empty file"
    if status.st_size > most:
        return f"{status.st_size / 2**20:,.0f} megabytes, more than the limit of {most / 2**20:,.0f} megabytes"
    return None


def reason_of(error: OSError, path: str | os.PathLike[str]) -> str:
    """An operating system's error in a few plain words."""
    if error.errno == errno.ENOENT and Path(path).is_symlink():
        return "a link to a file that is missing"
    return _REASONS.get(error.errno or 0) or (error.strerror or type(error).__name__).lower()


def _read_regular(path: str | os.PathLike[str], length: int = MAX_FILE_BYTES) -> bytes:
    """At most `length` bytes. The file may have become a pipe since it was looked at, so opening must not wait."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            return b""
        return stream.read(min(length, status.st_size))  # room for all that is asked for is taken at once


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # how Python carries a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    if unicodedata.category(character) in {"Cc", "Cs"}:
        return character.encode("unicode_escape").decode("ascii")
    return character
