"""How much of its room the cache takes: shown, limited, cleared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fewsight._base.checks import check_number
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.images.cache import FeatureCache

MEGABYTE, GIGABYTE = 2**20, 2**30


@dataclass(frozen=True)
class CacheRoom:
    """The folder of a cache, how many entries it has and how many bytes they take, and about how many they may take."""

    folder: Path
    n_entries: int
    n_bytes: int
    max_bytes: int

    def __str__(self) -> str:
        entries = "1 entry" if self.n_entries == 1 else f"{self.n_entries:,} entries"
        return f"{self.folder}: {entries}, {_size(self.n_bytes)} of at most {_size(self.max_bytes)}."


@checked_files(reads=("folder",))
def room_of_cache(folder: Path | None = None, *, limit: float | None = None, clear: bool = False) -> CacheRoom:
    """What there is in a cache (None: the user's), after it was cleared or held to a limit in gigabytes, if that is asked for."""
    cache = FeatureCache(folder)
    if clear:
        cache.clear()
    if limit is not None:
        wanted = check_number("cache", "limit", limit, least=0.001, most=1e6)
        try:
            cache.keep_limit(int(wanted * GIGABYTE))
        except OSError as error:
            raise InvalidInput(
                f"{cache.folder}: the limit could not be written there: {error.strerror or error}."
            ) from error
    return CacheRoom(cache.folder, cache.n_entries(), cache.size(), cache.max_bytes)


def _size(n_bytes: int) -> str:
    """As people read it: 8 GB, 23 MB, 0 MB."""
    if n_bytes >= GIGABYTE:
        return f"{n_bytes / GIGABYTE:.3g} GB"
    return f"{n_bytes / MEGABYTE:.3g} MB" if n_bytes >= MEGABYTE / 10 else "under 0.1 MB" if n_bytes else "0 MB"
