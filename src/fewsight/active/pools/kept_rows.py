"""Kernel values of a pool that are kept once they were computed, within a bound in bytes, for several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array

MOST_BYTES = 512 * 2**20
Block = npt.NDArray[Any]  # (k, m): each kernel of one example with the pool, in double or single precision


@final
class KeptRows:
    """By position in the pool, each kernel of an example with the whole pool, as large as it was then.

    Double precision while all fit into `max_bytes`, single precision from there on; what does not fit then is not kept, and is
    computed again. The first rows stay: learning anew reads all of them in turn, so that dropping the oldest would drop all.
    """

    def __init__(self, max_bytes: int = MOST_BYTES, rows: Mapping[int, Block] | None = None) -> None:
        self.max_bytes = max_bytes
        self._rows: dict[int, Block] = dict(rows or {})
        self._n_bytes = sum(row.nbytes for row in self._rows.values())
        self._single = any(row.dtype == np.float32 for row in self._rows.values())
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """How much is kept."""
        return self._n_bytes

    def known(self, positions: Iterable[int]) -> dict[int, Block]:
        """Those of these examples that are kept."""
        with self._lock:
            return {position: self._rows[position] for position in positions if position in self._rows}

    def keep(self, rows: Mapping[int, Array]) -> None:
        """Keep these, in place of shorter ones of the same examples, as far as there is room."""
        with self._lock:
            for position, row in rows.items():
                self._keep(position, row)

    def copy(self) -> KeptRows:
        """The same rows, for a pool that goes on from this one."""
        with self._lock:
            return KeptRows(self.max_bytes, self._rows)

    def _keep(self, position: int, row: Array) -> None:
        before = self._rows.get(position)
        if before is not None and before.shape[1] >= row.shape[1]:
            return  # another thread was quicker
        self._n_bytes -= 0 if before is None else before.nbytes
        self._rows.pop(position, None)
        if not self._single and self._n_bytes + row.nbytes > self.max_bytes:
            self._rows = {place: each.astype(np.float32) for place, each in self._rows.items()}
            self._n_bytes, self._single = sum(each.nbytes for each in self._rows.values()), True
        stored: Block = row.astype(np.float32) if self._single else row
        if self._n_bytes + stored.nbytes <= self.max_bytes:
            self._rows[position] = stored
            self._n_bytes += stored.nbytes
