"""Writing a file, whole or not at all: under a temporary name beside its place, on the disk, then renamed.

Who writes holds a lock on the temporary file. A process that was killed holds none any more, so the next one that writes into
the same folder sees which files nobody will finish, and removes them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    fcntl = importlib.import_module("fcntl")
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None

ABANDONED_SECONDS = 3600.0  # where there are no locks, a file that was not touched for this long belongs to nobody
_TEMPORARY = re.compile(r"\.writing-[0-9a-f]{16}")


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A binary stream whose content takes the place of `path` when the block ends well, and vanishes otherwise.

    When a durable write has ended, the file survives a power cut; what can be computed again need not be durable, and is
    written faster. Where the system refuses to write, the OSError names `path`, which is what a person asked for.
    """
    path = Path(path)
    temporary, stream = path, None
    try:
        if durable:
            remove_abandoned(path.parent)
        while stream is None:
            temporary = path.parent / f".writing-{secrets.token_hex(8)}"
            stream = opened_and_locked(temporary)
        with stream:
            yield stream
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
            if fcntl is None:
                stream.close()
            os.replace(temporary, path)  # still locked, so that nobody takes it for abandoned
        if durable:
            _sync_folder(path.parent)
    except BaseException as error:
        if temporary != path:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "surrogateescape"))


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left half-written in a folder; what is being written now stays."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name) and entry.is_file(follow_symlinks=False):
                remove_if_abandoned(entry.path)


def is_temporary(name: str) -> bool:
    """Whether a file has the name of one that is being written."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_if_abandoned(path: str | os.PathLike[str]) -> None:
    """Remove a temporary file unless somebody is writing it."""
    with contextlib.suppress(OSError):
        if fcntl is None:
            if time.time() - os.stat(path).st_mtime > ABANDONED_SECONDS:
                os.unlink(path)
            return
        with open(path, "r+b") as stream:  # to lock a file on a network disk, it must be open for writing
            if _lock(stream, without_locks=False):
                os.unlink(path)  # while the lock is held: who has just made the file sees that it is gone


def is_locked_by_nobody(path: Path) -> bool:
    """Whether nobody holds the file; where there are no locks, nobody can know, and the answer is no."""
    with path.open("r+b") as stream:
        return _lock(stream, without_locks=False)


def opened_and_locked(path: Path) -> BinaryIO | None:
    """A new file, locked; None where somebody took it for abandoned before it was."""
    stream = path.open("xb")
    if _lock(stream, without_locks=True) and _is_still(path, stream):
        return stream
    stream.close()
    return None


def _lock(stream: BinaryIO, *, without_locks: bool) -> bool:
    """Hold the file until it is closed; False if somebody else does. `without_locks` is the answer of a disk that has none."""
    if fcntl is None:
        return without_locks
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return without_locks
    return True


def _is_still(path: Path, stream: BinaryIO) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """The rename itself, too, is on the disk; some systems cannot sync a folder, and need not."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
