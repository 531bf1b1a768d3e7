"""Types that two or more folders share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

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
    def from_state(cls, state: State) -> LocalFeatures:
        """From the cache; what an older version did not keep is None."""
        arrays = state.arrays
        return cls(
            arrays["descriptors"],
            arrays["locations"],
            arrays.get("scales"),
            arrays.get("strengths"),
            state.header.get("aspect"),
        )


@dataclass(frozen=True)
class State:
    """What an object needs to come back to life: a JSON-able header and named arrays, no code."""

    header: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    def nested(self, name: str) -> State:
        """The part that `join` stored under this name."""
        prefix = name + "/"
        arrays = {key[len(prefix) :]: value for key, value in self.arrays.items() if key.startswith(prefix)}
        return State(self.header[name], arrays)

    def join(self, name: str, part: State) -> State:
        """This state with another one inside it, under a name."""
        arrays = {f"{name}/{key}": value for key, value in part.arrays.items()}
        return State({**self.header, name: part.header}, {**self.arrays, **arrays})
