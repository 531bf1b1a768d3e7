"""A channel that learns from unlabelled images as well."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight import RBF, Channel, Kernel, State
from fewsight._base.encodings import DenseRows, Encodings, Entry
from fewsight._base.types import Indices, LocalFeatures, Recipe


class CentredColour(Channel):
    """The mean colour of an image, less that of all images it was fitted on, labelled or not."""

    name: ClassVar[str] = "centred_colour"
    encodings: ClassVar[type[Encodings]] = DenseRows
    learns_from_unlabelled: ClassVar[bool] = True

    @property
    def kernel(self) -> Kernel:
        return RBF(0.3)

    @property
    def n_columns(self) -> int:
        return 3

    @property
    def _uses_labels(self) -> bool:
        return True

    def _feature_recipe(self) -> Recipe:
        return {"kind": "centred_colour", "version": 1}

    def _describe(self, image) -> LocalFeatures:
        return LocalFeatures(image.pixels(32).reshape(-1, 3).mean(axis=0)[None], np.full((1, 2), 0.5, np.float32))

    def _learn_recipe(self) -> Recipe:
        return {"kind": "mean_of_all", "version": 1}

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return features.descriptors[0].astype(np.float64)

    def _learn(self, samples: list[np.ndarray]) -> State:
        return self._learn_labelled(samples, np.full(len(samples), -1))

    def _learn_labelled(self, samples: list[np.ndarray], groups: Indices) -> State:
        counts = {"images": len(samples), "labelled": int((groups >= 0).sum())}
        return State(counts, {"mean": np.mean(samples, axis=0)})

    def _set_learned(self, state: State) -> None:
        self.mean_ = state.array("mean", (3,), np.float64)
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        return {"kind": "centred_colour", "version": 1, "mean": self.mean_.tolist()}

    def _encode(self, features: LocalFeatures) -> Entry:
        return DenseRows.entry(features.descriptors[0].astype(np.float64) - self.mean_)
