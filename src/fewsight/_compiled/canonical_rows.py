"""Whether sparse rows are as the other loops need them, in one pass over the non-zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled

Ints = npt.NDArray[Any]


def are_histograms_reference(starts: Ints, dims: Ints, values: Array, width: int) -> bool:
    """The definition: dimensions of a row ascend and are below `width`, values are finite and above zero.

    `starts` ascends from 0 to no more than there are values, which is checked by the caller.
    """
    used = slice(0, starts[-1])
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ascending = (np.diff(dims[used].astype(np.int64)) > 0) | (np.diff(rows) > 0)
    within = (dims[used] >= 0) & (dims[used] < width)
    return bool(ascending.all() and within.all() and ((values[used] > 0) & (values[used] < np.inf)).all())


@compiled(nogil=True, error_model="numpy")
def are_histograms(starts: Ints, dims: Ints, values: Array, width: int) -> bool:
    """As `are_histograms_reference`."""
    good = True
    for i in range(starts.size - 1):
        before = -1
        for t in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):  # unsigned: no test for negative places
            good &= (dims[t] > before) & (values[t] > 0.0) & (values[t] < np.inf)
            before = dims[t]
        good &= before < width
    return good
