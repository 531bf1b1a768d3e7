"""How the work on sorted columns is divided among threads: each takes some dimensions and has sums of its own."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]


def shares(starts: Ints) -> Ints:
    """Where each thread's stretch of equal work begins and ends (n_threads + 1), given where each piece of it starts."""
    wanted = np.linspace(0, starts[-1], numba.get_num_threads() + 1)
    cuts = np.searchsorted(starts, wanted)
    cuts[0], cuts[-1] = 0, len(starts) - 1
    return cuts.astype(np.int64)
