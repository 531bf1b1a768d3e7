"""Images, compared by one or several channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from fewsight._base.checks import owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import CHANNELS, Channel, Encodings, check_images, fit_channel, stored_channels
from fewsight.images import as_image, find_duplicates
from fewsight.learners.inputs.base import Input, Made
from fewsight.learners.inputs.stored import checked_scales
from fewsight.learners.labels import Labels


@final
class ImageList(Sequence[Any]):
    """Images as they were given, one by one as they are asked for: a list of grey ones, arrays of two dimensions, is no list of
    Gram matrices."""

    def __init__(self, images: Sequence[Any]) -> None:
        check_images(images)
        self._images = images

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, place: Any) -> Any:
        return ImageList(self._images[place]) if isinstance(place, slice) else self._images[place]


class ChannelInput(Input):
    """Images, compared by one or several channels."""

    channels: list[Channel]

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.channels = list(channels)
        self._given: tuple[Sequence[Any], Labels, Indices] | None = None  # to `fit`, for channels that come later

    def fit(self, X: Sequence[Any], labels: Labels, positions: Indices) -> Sequence[Array]:
        self._given = X, labels, positions
        images = [X[position] for position in positions]
        self.channels = [fit_channel(clone(channel), X, labels, positions) for channel in self.channels]
        self.encodings = self.read(images)
        self.pictures = self._pictures_of(images)
        self._set_scales([channel.diag(rows) for channel, rows in self._pairs()])
        return self._scaled_grams(channel.gram(rows) for channel, rows in self._pairs())

    def read(self, X: Sequence[Any]) -> list[Encodings]:
        return [channel.encode(X) for channel in self.channels]

    def read_once(self, X: Sequence[Any]) -> list[Encodings]:
        return [channel.encode(X, keep_features=False) for channel in self.channels]

    def compare(self, rows: list[Encodings]) -> Sequence[Array]:
        triples = zip(self.channels, rows, self.encodings, strict=True)
        return self._scaled_blocks(channel.gram(new, old) for channel, new, old in triples)

    def diagonals(self, rows: list[Encodings]) -> list[Array]:
        return self._scaled([channel.diag(new) for channel, new in zip(self.channels, rows, strict=True)])

    def extend(self, X: Sequence[Any]) -> tuple[Input, Sequence[Array], Sequence[Array]]:
        new = self.read(X)
        joined = [old.join(more) for old, more in zip(self.encodings, new, strict=True)]
        among = (channel.gram(rows) for channel, rows in zip(self.channels, new, strict=True))
        known = self._pictures()
        pictures = np.concatenate([known, 1 + known.max(initial=-1) + self._pictures_of(X)])
        return self._with(joined, pictures), self.compare(new), self._scaled_blocks(among)

    def beside(self, X: Sequence[Any], positions: Indices) -> tuple[Sequence[Array], Sequence[Array]]:
        rows = self.read([X[position] for position in positions])
        among = (channel.gram(each) for channel, each in zip(self.channels, rows, strict=True))
        return self.compare(rows), self._scaled_blocks(among)

    def select(self, indices: Indices) -> Input:
        return self._with([rows.take(indices) for rows in self.encodings], self._pictures()[indices])

    @property
    def examples(self) -> list[Any]:
        """The training images, while a learner learns from them; afterwards only their encodings are kept."""
        if self._given is None:
            raise InvalidInput(f"{owner_name(self)}: channels can only be made while the training images are at hand.")
        images, _, positions = self._given
        return [images[position] for position in positions]

    def gram(self, made: Made) -> Array:
        side = self.taking([made])
        return side.channels[0].gram(side.encodings[0]) / side.scales[0]

    def taking(self, made: Sequence[Made]) -> ChannelInput:
        examples = self.examples
        for channel in made:
            if not isinstance(channel, Channel):
                raise InvalidInput(f"{owner_name(self)}: images must be compared by channels, got {shown(channel)}.")
        assert self._given is not None  # or there would be no examples
        fitted = [fit_channel(self._placed(channel), *self._given) for channel in made if isinstance(channel, Channel)]
        other = ChannelInput(fitted)
        other._given, other.pictures, other.encodings = self._given, self.pictures, other.read(examples)
        other._set_scales([channel.diag(rows) for channel, rows in other._pairs()])
        return other

    def joined(self, made: Sequence[Made]) -> ChannelInput:
        more = self.taking(made)
        other = ChannelInput([*self.channels, *more.channels])
        other._given, other.pictures = self._given, self.pictures
        other.encodings = [*self.encodings, *more.encodings]
        other.scales = np.concatenate([self.scales, more.scales])
        return other

    def keeping(self, numbers: Indices) -> ChannelInput:
        other = ChannelInput([self.channels[number] for number in numbers])
        other._given, other.pictures = self._given, self.pictures
        other.encodings, other.scales = [self.encodings[number] for number in numbers], self.scales[numbers]
        return other

    def release(self) -> None:
        self._given = None

    @property
    def n_training(self) -> int:
        return len(self.encodings[0])

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
            state = state.join(f"channel{number}", channel.state()).join(f"training{number}", rows.state())
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        restored = cls(stored_channels(state))
        restored.encodings = [
            channel.encodings.from_state(state.nested(f"training{number}"))
            for number, channel in enumerate(restored.channels)
        ]
        for channel, rows in restored._pairs():
            if rows.shape[1] != channel.n_columns:
                raise InvalidInput(
                    f"the encodings of {channel.name} must have {channel.n_columns} columns, got {rows.shape[1]}."
                )
        restored.scales = checked_scales(state, len(restored.channels))
        n = restored.n_training
        if any(len(rows) != n for rows in restored.encodings):
            raise InvalidInput(f"the encodings of all channels must be those of {n} training images.")
        if "pictures" in state:
            restored.pictures = state.array("pictures", (n,), np.intp, least=0, most=n - 1)
        return restored

    def _placed(self, channel: Channel) -> Channel:
        """The channel, unfitted, working where the others do unless it has a place of its own."""
        first, cloned = self.channels[0], clone(channel)
        return cloned if cloned.cache is not None else cloned.set_workplace(cache=first.cache, n_jobs=first.n_jobs)

    def _pairs(self) -> Iterator[tuple[Channel, Encodings]]:
        """Each channel with the encodings of the training images."""
        return zip(self.channels, self.encodings, strict=True)

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
