"""Local features as points of a low-dimensional space: principal components of the descriptor, then the position."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number
from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, State

LARGEST_VALUE = 1e9  # of mean and components, likewise
LARGEST_POSITION = 1e6  # what is divided into the smallest cubes still fits into whole numbers


@dataclass(frozen=True)
class Projection:
    """Descriptors minus `mean` (d,), times `components` (d, k), which have unit variance in training; then x and y,
    from -position / 2 to position / 2."""

    mean: npt.NDArray[np.float32]
    components: npt.NDArray[np.float32]
    position: float

    @cached_property
    def digest(self) -> str:
        content = self.mean.tobytes() + self.components.tobytes() + repr(self.position).encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def points(self, features: LocalFeatures) -> npt.NDArray[np.float32]:
        """A point (k + 2,) for each local feature; (k,) if the position does not count."""
        centred = features.descriptors.astype(np.float32) - self.mean
        projected = np.matmul(centred, self.components, dtype=np.float32)
        if self.position == 0:
            return projected
        places: npt.NDArray[np.float32] = np.float32(self.position) * (features.locations - np.float32(0.5))
        return np.hstack([projected, places])

    def state(self) -> State:
        return State({"position": self.position}, {"mean": self.mean, "components": self.components})

    @classmethod
    def from_state(cls, state: State) -> Projection:
        mean = state.array("mean", (None,), np.float32, least=-LARGEST_VALUE, most=LARGEST_VALUE)
        components = state.array("components", (len(mean), None), np.float32, least=-LARGEST_VALUE, most=LARGEST_VALUE)
        if components.shape[1] > len(mean):
            raise InvalidInput(
                f"Projection: there must be at most as many components as numbers, {len(mean)}, got {components.shape[1]}."
            )
        return cls(mean, components, state.number("position", least=0, most=LARGEST_POSITION))


def principal_components(
    descriptors: npt.NDArray[Any], n_components: int, *, position: float, whiten: bool = True
) -> Projection:
    """The directions of most variance, each scaled to unit variance unless they are not to be whitened; those without variance
    come out as zero, as do all if there are no descriptors."""
    n_components = min(
        check_integer("principal_components", "n_components", n_components, least=1), descriptors.shape[1]
    )
    position = check_number("principal_components", "position", position, least=0, most=LARGEST_POSITION)
    if not len(descriptors):
        d = descriptors.shape[1]
        return Projection(np.zeros(d, np.float32), np.zeros((d, n_components), np.float32), float(position))
    rows = descriptors.astype(np.float64)
    mean = rows.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True).reshape(rows.shape[1], rows.shape[1]))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(n_components)] < 0, -1.0, 1.0)
    lengths = 1.0 / np.sqrt(np.maximum(values, 1e-300)) if whiten else np.ones_like(values)
    scale = np.where(values > 1e-9 * max(values[0], 1e-300), lengths, 0.0)
    return Projection(mean.astype(np.float32), (vectors * scale).astype(np.float32), float(position))
