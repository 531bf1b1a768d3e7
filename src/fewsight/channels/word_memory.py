"""Words of images, kept in memory while many windows and codebooks are tried: one entry for each image, of all codebooks.

A learner that asks for windows one after another would find the local features and words of every image anew for each. What is
kept is bounded; the images that were not asked for longest go first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, final

import numpy.typing as npt

from fewsight._base.types import LocalFeatures

MOST_BYTES = 2**29
Value = TypeVar("Value")


@final
@dataclass(frozen=True, eq=False)
class LocalWords:
    """The words of one image's local features, by one codebook: (n, k), and how much each counts; None where all count alike."""

    words: npt.NDArray[Any]
    shares: npt.NDArray[Any] | None

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + (0 if self.shares is None else self.shares.nbytes)


@dataclass
class _Entry:
    features: LocalFeatures
    words: dict[str, LocalWords] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        own = self.features.descriptors.nbytes + self.features.locations.nbytes
        return int(own) + sum(words.nbytes for words in self.words.values())


@final
class WordMemory:
    """Local features and words by the key of an image's features."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def features(self, key: str, describe: Callable[[], LocalFeatures]) -> LocalFeatures:
        """Those of an image, described if they are not there."""
        with self._lock:
            known = self._entries.get(key)
            if known is not None:
                self._entries.move_to_end(key)
                return known.features
        entry = _Entry(describe())
        self._put(key, entry)
        return entry.features

    def words(
        self,
        key: str,
        codebook: str,
        describe: Callable[[], LocalFeatures],
        assign: Callable[[LocalFeatures], LocalWords],
    ) -> LocalWords:
        """The words of an image by one codebook, found if they are not there."""
        features = self.features(key, describe)
        with self._lock:
            known = self._entries.get(key)
            if known is not None and codebook in known.words:
                return known.words[codebook]
        found = assign(features)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and codebook not in entry.words:
                entry.words[codebook] = found
                self._bytes += found.nbytes
                self._forget(key)
        return found

    def _put(self, key: str, entry: _Entry) -> None:
        with self._lock:
            if key not in self._entries:
                self._entries[key] = entry
                self._bytes += entry.nbytes
                self._forget(key)

    def _forget(self, newest: str) -> None:
        while self._bytes > self.most_bytes and len(self._entries) > 1:
            oldest = next(iter(self._entries))
            if oldest == newest:
                self._entries.move_to_end(newest)
                continue
            self._bytes -= self._entries.pop(oldest).nbytes


@final
class Recent(Generic[Value]):
    """The last few things that were made, by a key."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Value]) -> Value:
        """What was made for this key, made now if it is not there."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        return made
