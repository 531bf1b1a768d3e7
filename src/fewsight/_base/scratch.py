"""A folder for what is needed during one run only; what a killed run left is removed by the next.

Who uses such a folder holds a lock on a file in it. A process that was killed holds none any more.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fewsight._base.replacement import ABANDONED_SECONDS, is_locked_by_nobody, opened_and_locked

PREFIX = "fewsight-scratch-"
LOCK = "in-use"
_NAME = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8,16}")


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone after the block, also where an interrupt comes while it is made or removed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder, lock = Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(8)}", None
    try:
        folder.mkdir(mode=0o700)
        lock = opened_and_locked(folder / LOCK)
        yield folder
    finally:
        if lock is not None and os.name != "posix":  # Windows removes no file that is open
            lock.close()
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if lock is not None:
                lock.close()


def _remove_abandoned(place: Path) -> None:
    """Remove the folders that killed runs of the same user left; those in use stay."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _is_ours(entry):
                    _remove_if_abandoned(Path(entry.path))


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return os.name != "posix" or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _remove_if_abandoned(folder: Path) -> None:
    lock = folder / LOCK
    if not lock.exists():  # just made, or half removed
        abandoned = time.time() - folder.stat().st_mtime > ABANDONED_SECONDS
    elif os.name == "posix":
        abandoned = is_locked_by_nobody(lock)
    else:
        lock.unlink()  # which Windows refuses while somebody has it open
        abandoned = True
    if abandoned:
        shutil.rmtree(folder, ignore_errors=True)
