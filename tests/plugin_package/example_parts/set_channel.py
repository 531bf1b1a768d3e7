"""A channel that compares sets of descriptors, and the kernel that does so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewsight._base.encodings import DescriptorSets, Encodings, Entry
from fewsight._base.types import Array, LocalFeatures, Pixels, Recipe, State
from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import PixelChannel
from fewsight.kernels import RBF, Kernel, SetKernel


@dataclass(frozen=True)
class MeanOfGaussians(SetKernel):
    """The mean over all pairs of descriptors of exp(-|a - b|^2 / (2 scale^2)), times 1 + the inner product of their positions."""

    kind: ClassVar[str] = "mean_of_gaussians"
    scale: float = 1.0

    def _gram(self, A: DescriptorSets, B: DescriptorSets | None) -> Array:
        other = A if B is None else B
        K = np.array([[self._value(A, i, other, j) for j in range(len(other))] for i in range(len(A))])
        return (K if B is not None else (K + K.T) / 2).reshape(len(A), len(other))

    def _diag(self, A: DescriptorSets) -> Array:
        return np.array([self._value(A, i, A, i) for i in range(len(A))])

    def _value(self, A: DescriptorSets, i: int, B: DescriptorSets, j: int) -> float:
        K = RBF(self.scale).gram(A.of(i), B.of(j))
        if A.positions is not None and B.positions is not None:
            ours, theirs = (s.positions[s.starts[k] : s.starts[k + 1]].astype(float) for s, k in ((A, i), (B, j)))
            K = K * (1 + ours @ theirs.T)
        return float(K.mean())


@dataclass(frozen=True)
class Blocks:
    """The mean colours of a grid of blocks: fewer the narrower the image, so that sets differ in size."""

    side: int = 4

    def recipe(self) -> Recipe:
        return {"kind": "blocks", "version": 1, "side": self.side}

    def describe(self, pixels: Pixels) -> LocalFeatures:
        height, width = pixels.shape[:2]
        rows, columns = min(self.side, height), max(1, min(self.side, width, round(self.side * width / height)))
        found = [
            (block.reshape(-1, 3).mean(axis=0), ((x + 0.5) / columns, (y + 0.5) / rows))
            for y, band in enumerate(np.array_split(pixels, rows, axis=0))
            for x, block in enumerate(np.array_split(band, columns, axis=1))
        ]
        descriptors, locations = (np.array(part, dtype=np.float32) for part in zip(*found, strict=True))
        scales = np.full(len(descriptors), 1 / columns, dtype=np.float32)
        return LocalFeatures(descriptors, locations, scales, strengths=descriptors.std(axis=1))


class BlockSets(PixelChannel):
    """Sets of coloured blocks, compared pair by pair."""

    name: ClassVar[str] = "block_sets"
    encodings: ClassVar[type[Encodings]] = DescriptorSets
    required_features: ClassVar[tuple[str, ...]] = ("scales", "aspect")

    side: int = option(default=4, doc="blocks along the height of an image.")

    @property
    def kernel(self) -> Kernel:
        self._check_fitted()
        return MeanOfGaussians(self.scale_)

    @property
    def _descriptor(self) -> Blocks:
        return Blocks(self.side)

    @property
    def n_columns(self) -> int:
        return 3

    def _learn_recipe(self) -> Recipe:
        return {"kind": "colour_scale", "version": 1}

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return features.descriptors

    def _learn(self, samples: list[np.ndarray]) -> State:
        return State({"scale": max(0.05, float(np.concatenate(samples).std()))}, {})

    def _set_learned(self, state: State) -> None:
        self.scale_ = float(state.header["scale"])
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {"kind": "blocks", "version": 1}

    def _encode(self, features: LocalFeatures) -> Entry:
        return DescriptorSets.entry(features.descriptors, features.locations)
