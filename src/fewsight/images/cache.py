"""A folder of computed results (local features, encodings), known by a hash of the image and of the recipe.

The cache may be thrown away at any time and is never the reason that work fails: what is missing or damaged is computed
again, and what cannot be written is not kept. Several processes and threads may use one folder at once.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, final

from fewsight._base.archive import pack, read_archive, write_archive
from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import ArchiveError, FewsightError, InvalidInput
from fewsight._base.replacement import is_temporary, remove_if_abandoned, write_text
from fewsight._base.types import Recipe, State
from fewsight.images.hashing import hash_of

DEFAULT_MAX_BYTES = 8 * 2**30
KEPT_SHARE = 0.8  # of the limit, after a clean-up
SCAN_SHARE = 0.05  # of the limit may be written before the folder is measured again

Kept = TypeVar("Kept")
LIMIT_FILE = "limit_in_bytes.txt"
_KEY = re.compile(r"[0-9a-f]{8,128}")
_SHARD = re.compile(r"[0-9a-f]{2}")
_ENDING = ".arrays"


def default_cache_folder() -> Path:
    """$FEWSIGHT_CACHE, or the place where this operating system keeps what can be computed again."""
    chosen = os.environ.get("FEWSIGHT_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return _user_cache_folder() / "fewsight"
    except RuntimeError:  # a user without a home
        return Path(os.devnull) / "fewsight"  # nothing can be written there, so nothing is kept


def default_cache_limit(folder: Path | None = None) -> int:
    """In bytes: $FEWSIGHT_CACHE_GB, the limit that was kept for the folder, or 8 gigabytes: about 8,000 photographs with every
    channel."""
    chosen = os.environ.get("FEWSIGHT_CACHE_GB")
    if not chosen:
        return DEFAULT_MAX_BYTES if folder is None else _kept_limit(folder)
    try:
        return int(check_number("FeatureCache", "FEWSIGHT_CACHE_GB", float(chosen), least=0.001, most=1e6) * 2**30)
    except ValueError as error:
        raise InvalidInput(
            f"FeatureCache: FEWSIGHT_CACHE_GB must be a number of gigabytes, got {shown(chosen)}."
        ) from error


@final
class FeatureCache:
    """States on disk by key. The folder holds at most about `max_bytes`; beyond, the least recently used entries go.

    Without a folder or a limit, the environment variables FEWSIGHT_CACHE and FEWSIGHT_CACHE_GB are asked, then the limit that
    `keep_limit` left in the folder.

    The size is measured when the first entry is written and after every twentieth part of the limit, so that each
    process that writes may pass the limit by that much.

    Parameters
    ----------
    folder : where entries are kept; made when the first is written. None: $FEWSIGHT_CACHE, or the user's cache.
    max_bytes : about how much the folder may hold, > 0. None: $FEWSIGHT_CACHE_GB, the limit kept in the folder, or 8 gigabytes.

    Attributes
    ----------
    n_crowded_out : entries that were used since this object was made and had to go for others all the same. If it is not 0, the
        folder is too small for the work at hand, which computes such entries anew each time it needs them.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, max_bytes: int | None = None) -> None:
        self.folder = default_cache_folder() if folder is None else Path(folder)
        limit = default_cache_limit(self.folder) if max_bytes is None else max_bytes
        self.max_bytes = check_integer("FeatureCache", "max_bytes", limit, least=1)
        self.n_crowded_out = 0
        self._began = time.time()
        self._lock = threading.Lock()
        self._unmeasured: float | None = None  # bytes written since the folder was measured; None: never measured

    @staticmethod
    def key_of(*parts: str | Recipe | bytes) -> str:
        """A key that changes with any part, with a part's kind and with their order.

        Parameters
        ----------
        parts : texts, bytes and recipes (what JSON can hold), in any number.
        """
        return hash_of(*(_tagged(part) for part in parts), b"")

    def get(self, key: str) -> State | None:
        """The state stored under a key, or None. A damaged entry is removed. The arrays are read-only.

        Parameters
        ----------
        key : as `key_of` made it.
        """
        path = self._path(key)
        try:
            stored = read_archive(path)
            if stored.header["key"] != key or not isinstance(stored.header["header"], dict):
                raise ArchiveError(f"{path}: the entry belongs to another key, or to nothing that we keep.")
            state = State(stored.header["header"], stored.arrays)
        except (ArchiveError, KeyError):
            _remove(path)
            return None
        except OSError:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return state

    def read(self, key: str, restore: Callable[[State], Kept]) -> Kept | None:
        """What `restore` makes of the entry under a key; None, and the entry is gone, where it is not what `restore` takes.

        `restore` reads arrays with `State.array`, which checks them; one that it does not read that way is damage as well.

        Parameters
        ----------
        key : as `key_of` made it.
        restore : makes something of a state, and raises where it cannot.
        """
        state = self.get(key)
        if state is None:
            return None
        try:
            kept = restore(state)
            state.check_all_read()
        except (
            FewsightError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
        ):  # what is met in arrays of another kind
            _remove(self._path(key))
            return None
        return kept

    def __contains__(self, key: str) -> bool:
        """Whether there is an entry under a key; it may still turn out to be damaged when it is read."""
        return self._path(key).is_file()

    def put(self, key: str, state: State) -> bool:
        """Store a state; False if it could not be written (a full disk, a folder that is not ours) or is too large.

        Parameters
        ----------
        key : as `key_of` made it.
        state : what to keep.
        """
        path = self._path(key)
        size = sum(array.nbytes for array in state.arrays.values())
        if size > self.max_bytes * KEPT_SHARE:
            return False
        try:
            self._make_room(size)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_archive(path, State({"key": key, "header": state.header}, state.arrays), durable=False)
        except OSError:
            return False
        return True

    def size(self) -> int:
        """The bytes that all entries take."""
        return sum(entry.size for entry in self._entries())

    def n_entries(self) -> int:
        """How many entries there are."""
        return sum(1 for _ in self._entries())

    def keep_limit(self, max_bytes: int) -> None:
        """Hold this folder to another limit, from now on and in later runs; what is too much goes at once.

        Parameters
        ----------
        max_bytes : about how much the folder may hold, > 0.
        """
        self.max_bytes = check_integer("FeatureCache", "max_bytes", max_bytes, least=1)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / LIMIT_FILE, f"{self.max_bytes}\n")
        with self._lock:
            self._remove_least_recently_used(0)

    def clear(self) -> None:
        """Remove every entry; other files in the folder are left alone."""
        for entry in self._entries():
            _remove(entry.path)
        with contextlib.suppress(OSError):
            for shard in self._shards():
                with contextlib.suppress(OSError):
                    os.rmdir(shard)

    def __repr__(self) -> str:
        return f"FeatureCache({str(self.folder)!r}, max_bytes={self.max_bytes})"

    def __reduce__(self) -> tuple[type[FeatureCache], tuple[Path, int]]:
        return type(self), (self.folder, self.max_bytes)  # a copy shares the folder, not the lock

    def _path(self, key: str) -> Path:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise InvalidInput(f"FeatureCache: key must be hexadecimal digits as key_of gives them, got {shown(key)}.")
        return self.folder / key[:2] / (key[2:] + _ENDING)

    def _make_room(self, size: int) -> None:
        """Count what is about to be written, and measure the folder when that is due. One thread at a time."""
        with self._lock:
            if self._unmeasured is not None:
                self._unmeasured += size
                if self._unmeasured <= self.max_bytes * SCAN_SHARE:
                    return
            self._unmeasured = float(size)
            self._remove_least_recently_used(size)

    def _remove_least_recently_used(self, coming: int) -> None:
        entries = list(self._entries())
        total = coming + sum(entry.size for entry in entries)
        if total <= self.max_bytes:
            return
        for entry in sorted(entries, key=lambda entry: entry.used):
            if total <= self.max_bytes * KEPT_SHARE:
                break
            _remove(entry.path)
            total -= entry.size
            self.n_crowded_out += entry.used >= self._began

    def _shards(self) -> list[str]:
        with os.scandir(self.folder) as found:
            return [entry.path for entry in found if _SHARD.fullmatch(entry.name)]

    def _entries(self) -> Iterator[_Entry]:
        """Every entry; what a killed process left half-written is removed on the way."""
        with contextlib.suppress(OSError):
            for shard in self._shards():
                with contextlib.suppress(OSError):
                    yield from _entries_of(shard)


@dataclass(frozen=True)
class _Entry:
    path: str
    size: int
    used: float  # seconds since the epoch


def _entries_of(shard: str) -> Iterator[_Entry]:
    with os.scandir(shard) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):  # somebody else cleans up as well
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_ENDING):
                    yield _Entry(entry.path, status.st_size, status.st_mtime)
                elif is_temporary(entry.name):
                    remove_if_abandoned(entry.path)


def _kept_limit(folder: Path) -> int:
    """What `keep_limit` wrote; the default where it never did, or where the file is damaged."""
    try:
        with open(folder / LIMIT_FILE, encoding="ascii") as stream:
            limit = int(stream.read(32))
    except (OSError, ValueError):
        return DEFAULT_MAX_BYTES
    return limit if limit > 0 else DEFAULT_MAX_BYTES


def _remove(path: str | Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _tagged(part: str | Recipe | bytes) -> bytes:
    if isinstance(part, bytes):
        return b"bytes " + part
    return b"text " + part.encode("utf-8", "surrogatepass") if isinstance(part, str) else b"recipe " + pack(part)


def _user_cache_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
