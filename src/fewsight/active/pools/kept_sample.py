"""A sample of a pool with which others are compared at every question: made ready once, and what was compared is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

import numpy as np

from fewsight._base.types import Array, Indices

MOST_ROWS = 2_000  # that are kept; few are asked for that were not asked for a question before

Compare = Callable[[Indices], list[Array]]  # each kernel between some examples and the sample


@final
class KeptSample:
    """Kernel values between examples of a pool and a sample of it, for as long as the sample stays the same."""

    def __init__(self, make: Callable[[Indices], Compare]) -> None:
        """`make(sample)` makes a sample ready."""
        self._make, self._lock = make, threading.Lock()
        self._sample: bytes = b""
        self._compare: Compare | None = None
        self._rows: dict[int, Array] = {}

    def parts(self, rows: Indices, sample: Indices) -> Array:
        """Each kernel between these examples and the sample (k, r, s)."""
        wanted = rows.tolist()
        with self._lock:
            if self._compare is None or self._sample != sample.tobytes():
                self._compare, self._sample, self._rows = self._make(sample), sample.tobytes(), {}
            if len(self._rows) > MOST_ROWS:
                self._rows = {}
            missing = [row for row in dict.fromkeys(wanted) if row not in self._rows]
            if missing:
                blocks = np.stack(self._compare(np.array(missing, dtype=np.intp)), axis=1)
                self._rows |= dict(zip(missing, blocks, strict=True))
            return np.stack([self._rows[row] for row in wanted], axis=1)
