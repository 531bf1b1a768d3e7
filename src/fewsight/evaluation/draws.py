"""Drawing only images that can be read: what fails is set aside, and the draw is made again without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import Indices
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.images import Image

ROUNDS = 3  # after this many draws with a broken image, every image of the set is looked at


@dataclass
class Readable:
    """Which images of a set the channels can use, found out as far as the draws ask."""

    images: Sequence[Image]
    labels: Any  # (n,) objects, None where unlabelled
    channels: Mapping[str, Any]
    failures: list[UnreadableImage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._usable = np.array([label is not None for label in self.labels], dtype=bool)
        self._tried = ~self._usable
        self._seconds = dict.fromkeys(self.channels, 0.0)
        self._n_looked_at = 0

    def draws(self, protocol: Protocol) -> list[Draw]:
        """Every draw of the protocol, from images that all channels can read."""
        if protocol.unlabelled:
            without = np.array([label is None for label in self.labels], dtype=bool)
            self._usable |= without
            self._tried &= ~without
        for attempt in range(ROUNDS + 2):
            members = np.flatnonzero(self._usable)
            draws = self._draw(protocol, members)
            if not self._try(members if attempt >= ROUNDS else _drawn(draws)):
                return draws
        raise InvalidInput("evaluate: the images change while they are read; every draw meets another unreadable one.")

    def _draw(self, protocol: Protocol, members: Indices) -> list[Draw]:
        try:
            return [draw.among(members) for draw in protocol.splits(self.labels[members])]
        except InvalidInput as error:
            if not self.failures:
                raise
            broken = len(self.failures)
            raise InvalidInput(f"{error} {broken} could not be read, the first of them: {self.failures[0]}") from None

    @property
    def seconds(self) -> float:
        """Time spent on local features so far."""
        return sum(self._seconds.values())

    def seconds_per_image(self) -> dict[str, float]:
        """What the local features of one image cost each channel; nothing where it does not keep them."""
        looked_at = max(1, self._n_looked_at)
        return {
            name: self._seconds[name] / looked_at if getattr(channel, "cache", None) is not None else 0.0
            for name, channel in self.channels.items()
        }

    def _try(self, wanted: Indices) -> bool:
        """Let every channel look at images it has not seen; whether one of them failed."""
        fresh = wanted[~self._tried[wanted]]
        failed: dict[str, UnreadableImage] = {}
        for name, channel in self.channels.items():
            start = perf_counter()
            errors = channel.prepare([self.images[i] for i in fresh]) if len(fresh) else []
            self._seconds[name] += perf_counter() - start
            failed.update({error.name: error for error in errors if error.name not in failed})
        self._tried[fresh] = True
        self._n_looked_at += len(fresh)
        self._set_aside(fresh, failed)
        return bool(failed)

    def _set_aside(self, fresh: Indices, failed: Mapping[str, UnreadableImage]) -> None:
        broken = [i for i in fresh if self.images[i].name in failed]
        strangers = failed.keys() - {self.images[i].name for i in broken}
        if strangers:
            raise failed[min(strangers)]  # a failure that belongs to no image of the set cannot be worked around
        self._usable[broken] = False
        self.failures.extend(failed[self.images[i].name] for i in broken)


def _drawn(draws: Iterable[Draw]) -> Indices:
    return np.unique(np.concatenate([part for draw in draws for part in (draw.train, draw.asked, draw.unlabelled)]))
