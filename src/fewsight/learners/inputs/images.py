"""Images, compared by one or several channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import CHANNELS, Channel, Encodings, fit_channel
from fewsight.learners.inputs.base import Input
from fewsight.learners.inputs.stored import checked_scales


class ChannelInput(Input):
    """Images, compared by one or several channels."""

    channels: list[Channel]

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.channels = list(channels)

    def fit(self, X: Sequence[Any], labels: Any, positions: Indices) -> list[Array]:
        self.channels = [fit_channel(clone(channel), X, labels, positions) for channel in self.channels]
        self.encodings = self.read([X[position] for position in positions])
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
        joined = [old.join(more) for old, more in zip(self.encodings, new, strict=True)]
        among = [channel.gram(rows) for channel, rows in zip(self.channels, new, strict=True)]
        return self._with(joined), self.compare(new), self._scaled(among)

    def select(self, indices: Indices) -> Input:
        return self._with([rows.take(indices) for rows in self.encodings])

    @property
    def n_training(self) -> int:
        return len(self.encodings[0])

    @property
    def parameter(self) -> list[Channel]:
        return self.channels

    def state(self) -> State:
        state = State({"kind": "channels", "n_channels": len(self.channels)}, {"scales": self.scales})
        for number, (channel, rows) in enumerate(zip(self.channels, self.encodings, strict=True)):
            CHANNELS.check_registered(channel)
            state = state.join(f"channel{number}", channel.state()).join(f"training{number}", rows.state())
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        numbers = range(state.header["n_channels"])
        parts = [state.nested(f"channel{number}") for number in numbers]
        restored = cls([CHANNELS.find(part.header["name"]).from_state(part) for part in parts])
        restored.encodings = [
            channel.encodings.from_state(state.nested(f"training{number}"))
            for number, channel in zip(numbers, restored.channels, strict=True)
        ]
        for channel, rows in zip(restored.channels, restored.encodings, strict=True):
            if rows.shape[1] != channel.n_columns:
                raise InvalidInput(
                    f"the encodings of {channel.name} must have {channel.n_columns} columns, got {rows.shape[1]}."
                )
        restored.scales = checked_scales(state, len(parts))
        return restored

    def _with(self, encodings: list[Encodings]) -> ChannelInput:
        other = ChannelInput(self.channels)
        other.encodings, other.scales = encodings, self.scales
        return other
