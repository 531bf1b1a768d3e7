"""Images, compared by one or several channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import CHANNELS, Channel, Encodings
from fewsight.images import as_image, find_duplicates
from fewsight.learners.inputs.base import Input
from fewsight.learners.inputs.stored import checked_scales, matrix_from_state, matrix_state

MOST_CHANNELS = 200  # in a model file: opening each takes a moment


class ChannelInput(Input):
    """Images, compared by one or several channels."""

    channels: list[Channel]

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.channels = list(channels)

    def fit(self, X: Sequence[Any], labels: Any, positions: Indices) -> list[Array]:
        images = [X[position] for position in positions]
        self.channels = [clone(channel).fit(images, labels) for channel in self.channels]
        self.encodings = self.read(images)
        self.pictures = self._pictures_of(images)
        pairs = list(zip(self.channels, self.encodings, strict=True))
        self._set_scales([channel.diag(encodings) for channel, encodings in pairs])
        return self._scaled([channel.gram(encodings) for channel, encodings in pairs])

    def read(self, X: Sequence[Any]) -> list[Encodings]:
        return [channel.encode(X) for channel in self.channels]

    def compare(self, rows: list[Encodings]) -> list[Array]:
        triples = zip(self.channels, rows, self.encodings, strict=True)
        return self._scaled([channel.gram(new, old) for channel, new, old in triples])

    def diagonals(self, rows: list[Encodings]) -> list[Array]:
        return self._scaled([channel.diag(new) for channel, new in zip(self.channels, rows, strict=True)])

    def extend(self, X: Sequence[Any]) -> tuple[Input, list[Array], list[Array]]:
        new = self.read(X)
        stacked = [scipy.sparse.vstack(pair, format="csr") for pair in zip(self.encodings, new, strict=True)]
        among = [channel.gram(rows) for channel, rows in zip(self.channels, new, strict=True)]
        known = self._pictures()
        pictures = np.concatenate([known, 1 + known.max(initial=-1) + self._pictures_of(X)])
        return self._with(stacked, pictures), self.compare(new), self._scaled(among)

    def select(self, indices: Indices) -> Input:
        return self._with([rows[indices] for rows in self.encodings], self._pictures()[indices])

    @property
    def n_training(self) -> int:
        return int(self.encodings[0].shape[0])

    @property
    def parameter(self) -> list[Channel]:
        return self.channels

    def state(self) -> State:
        arrays: dict[str, npt.NDArray[Any]] = {"scales": self.scales}
        copies = self.copies()
        if copies is not None:
            arrays["pictures"] = copies
        state = State({"kind": "channels", "n_channels": len(self.channels)}, arrays)
        for number, (channel, rows) in enumerate(zip(self.channels, self.encodings, strict=True)):
            CHANNELS.check_registered(channel)
            state = state.join(f"channel{number}", channel.state()).join(f"training{number}", matrix_state(rows))
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        numbers = range(state.integer("n_channels", least=1, most=MOST_CHANNELS))
        parts = [state.nested(f"channel{number}") for number in numbers]
        restored = cls([CHANNELS.find(part.header["name"]).from_state(part) for part in parts])
        restored.encodings = [matrix_from_state(state.nested(f"training{number}")) for number in numbers]
        for channel, rows in zip(restored.channels, restored.encodings, strict=True):
            if rows.shape[1] != channel.n_columns:
                raise InvalidInput(
                    f"the encodings of {channel.name} must have {channel.n_columns} columns, got {rows.shape[1]}."
                )
        restored.scales = checked_scales(state, len(parts))
        n = restored.n_training
        if "pictures" in state:
            restored.pictures = state.array("pictures", (n,), np.intp, least=0, most=n - 1)
        return restored

    def _pictures(self) -> Indices:
        """`pictures`; where nobody looked, each image is its own."""
        return np.arange(self.n_training) if self.pictures is None else self.pictures

    def _pictures_of(self, images: Sequence[Any]) -> Indices:
        """Which of the images are the same picture, with what the channels work with."""
        first = self.channels[0]
        return find_duplicates([as_image(image) for image in images], cache=first.cache, n_jobs=first.n_jobs).pictures

    def _with(self, encodings: list[Encodings], pictures: Indices) -> ChannelInput:
        other = ChannelInput(self.channels)
        other.encodings, other.scales, other.pictures = encodings, self.scales, _renumbered(pictures)
        return other


def _renumbered(pictures: Indices) -> Indices:
    """The same groups, with numbers from 0 on."""
    return np.unique(pictures, return_inverse=True)[1].ravel().astype(np.intp)
