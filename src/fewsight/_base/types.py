"""Types that two or more folders share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.state import State as State  # read by everybody who is stored

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
SparseRows: TypeAlias = scipy.sparse.csr_array
Rows: TypeAlias = Array | SparseRows  # an example in each row
Pixels = npt.NDArray[np.float32]  # (h, w, 3), RGB in [0, 1]
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Recipe = dict[str, Any]  # JSON-able: all that decides what a computation returns


@dataclass(frozen=True)
class LocalFeatures:
    """Descriptors (n, d) at locations (n, 2): x and y as fractions of the image's width and height."""

    descriptors: npt.NDArray[Any]
    locations: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.descriptors)
