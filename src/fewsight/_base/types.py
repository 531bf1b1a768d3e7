"""Types that two or more folders share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.state import NUMBERS
from fewsight._base.state import State as State  # read by everybody who is stored

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Labels = npt.NDArray[Any]  # strings, integers or booleans; an object array where some are None: not labelled
LabelsLike = Sequence[Hashable] | Labels
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"  # what a JSON file holds
Sparse: TypeAlias = scipy.sparse.csr_array
Rows: TypeAlias = Array | Sparse  # an example in each row
Pixels = npt.NDArray[np.float32]  # (h, w, 3), RGB in [0, 1]
Recipe = dict[str, Any]  # JSON-able: all that decides what a computation returns


@dataclass(frozen=True)
class LocalFeatures:
    """Descriptors (n, d) at locations (n, 2): x and y as fractions of the image's width and height.

    A detector may say of each its scale (n,), in widths of the image, and its strength (n,), larger for what stands out more.
    `aspect` is the image's width through its height.
    """

    descriptors: npt.NDArray[Any]
    locations: npt.NDArray[np.float32]
    scales: npt.NDArray[np.float32] | None = None
    strengths: npt.NDArray[np.float32] | None = None
    aspect: float | None = None

    def __len__(self) -> int:
        return len(self.descriptors)

    def state(self) -> State:
        """For the cache: what there is of them."""
        header = {} if self.aspect is None else {"aspect": self.aspect}
        parts = {
            "descriptors": self.descriptors,
            "locations": self.locations,
            "scales": self.scales,
            "strengths": self.strengths,
        }
        return State(header, {name: part for name, part in parts.items() if part is not None})

    @classmethod
    def from_state(cls, state: State, width: int | None = None) -> LocalFeatures:
        """From the cache, checked; descriptors have `width` numbers, where that is known. What was not kept is None."""
        descriptors = state.array("descriptors", (None, width), NUMBERS)
        n = len(descriptors)
        scales, strengths = (
            state.array(name, (n,), np.float32) if name in state else None for name in ("scales", "strengths")
        )
        aspect = state.number("aspect", least=1e-9, most=1e9) if "aspect" in state else None
        return cls(descriptors, state.array("locations", (n, 2), np.float32), scales, strengths, aspect)
