"""A pool of images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.base import clone

from fewsight._base.encodings import RowEncodings
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, Rows
from fewsight.active.pools.base import Pool, combined
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.active.pools.kept_rows import MOST_BYTES, KeptRows
from fewsight.active.pools.kept_sample import Compare, KeptSample
from fewsight.active.pools.ready_parts import Part, ReadyParts
from fewsight.channels import Channel, Encodings
from fewsight.kernels.against import Against, Plain
from fewsight.learners.examples import Examples
from fewsight.learners.histograms import HistogramInput, SideBySide, compares_by_intersection
from fewsight.learners.inputs import ChannelInput, Input

MANY = 5_000  # images: from here on they are compared in single precision, in half of the time and memory


@final
class ImagePool(Pool):
    """Images, encoded once by one or several channels.

    What a channel learns (a codebook) it learns here, without labels, from the images at `learn_from` (all of them unless told
    otherwise), so that encodings do not change when labels come. Test images do not belong into `learn_from`. Kernel values that
    are kept take at most `max_bytes`.

    Parameters
    ----------
    images : m images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.
    channels : an unfitted channel, or several.
    learn_from : positions of the images that channels learn from; None for all.
    max_bytes : how much memory the kernel values that are kept may take.
    """

    def __init__(
        self,
        images: Sequence[Any],
        channels: Channel | Sequence[Channel],
        learn_from: Indices | None = None,
        *,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        super().__init__(KeptRows(max_bytes))
        self.images = list(images)
        self.channels = [channels] if isinstance(channels, Channel) else list(channels)
        self.encodings: list[Encodings] = []
        if self.images:
            chosen = self.images if learn_from is None else [self.images[place] for place in learn_from]
            self.channels = [clone(channel).fit(chosen) for channel in self.channels]
            self.encodings = [channel.encode(self.images) for channel in self.channels]
        self._parts = ReadyParts(self._made_ready, len(self))
        self._sample = KeptSample(self._ready_sample)

    @classmethod
    def encoded(
        cls, channels: Sequence[Channel], encodings: Sequence[Encodings], *, max_bytes: int = MOST_BYTES
    ) -> ImagePool:
        """Of images that fitted channels have encoded already; without encodings, a pool that is empty so far.

        Parameters
        ----------
        channels : fitted channels.
        encodings : of each channel, those of all m images.
        max_bytes : how much memory the kernel values that are kept may take.
        """
        pool = cls([], channels, max_bytes=max_bytes)
        pool.encodings = list(encodings)
        pool._parts = ReadyParts(pool._made_ready, len(pool))
        return pool

    def grow(self, examples: Examples) -> ImagePool:
        """With further images, encoded by the channels as they were learned; an image that cannot be read changes nothing.

        The channels of a pool that had no image yet learn from these.
        """
        images: Any = examples
        new = list(images)
        if not all(hasattr(channel, "learned_") for channel in self.channels):
            return ImagePool(new, self.channels, max_bytes=self.kept.max_bytes)
        pool = self.grow_encoded([channel.encode(new) for channel in self.channels])
        pool.images = [*self.images, *new] if self.images or not len(self) else []
        return pool

    def grow_encoded(self, encodings: Sequence[Encodings]) -> ImagePool:
        """With further images that the channels have encoded already.

        Parameters
        ----------
        encodings : of each channel, those of the further images.
        """
        sizes = sorted({len(codes) for codes in encodings})
        if len(encodings) != len(self.channels) or len(sizes) != 1:
            raise InvalidInput(
                f"ImagePool: there must be as many encodings for each of {len(self.channels)} channels, got {sizes} "
                f"for {len(encodings)}."
            )
        joined = [old.join(new) for old, new in zip(self.encodings, encodings, strict=True)] if len(self) else encodings
        pool = ImagePool.encoded(self.channels, joined)
        pool.kept, pool._parts = self.kept.copy(), ReadyParts(pool._made_ready, len(pool), self._parts)
        pool._parts.change(lambda part, number, ready: _moved(ready, self.encodings[number], joined[number], part))
        return pool

    def __len__(self) -> int:
        return len(self.encodings[0]) if self.encodings else 0

    @property
    def n_kernels(self) -> int:
        return len(self.channels)

    @cached_property
    def diagonals(self) -> list[Array]:
        if not len(self):
            return [np.zeros(0) for _ in self.channels]
        return [channel.diag(rows) for channel, rows in zip(self.channels, self.encodings, strict=True)]

    def _compare(self, rows: Indices, columns: Indices | None) -> list[Array]:
        if columns is None:
            ready = self._parts.all()
            chosen = [codes.take(rows) for codes in self.encodings]
            return [np.hstack([part[number].gram(codes) for part in ready]) for number, codes in enumerate(chosen)]
        pairs = zip(self.channels, self.encodings, strict=True)
        return [channel.gram(codes.take(rows), codes.take(columns)) for channel, codes in pairs]

    def _made_ready(self, start: int, stop: int) -> list[Against[Any]]:
        """A part of the pool, with which every example that gets a label is compared."""
        pairs = zip(self.channels, self.encodings, strict=True)
        many = len(self) >= MANY
        return [channel.against(codes.part(start, stop), single=many) for channel, codes in pairs]

    def with_sample(self, rows: Indices, sample: Indices, factors: Array) -> Array:
        """As `block`; the sample is made ready, and compared with, once."""
        if not len(rows) or not len(sample):
            return np.zeros((len(rows), len(sample)))
        return combined(self._sample.parts(rows, sample), factors)

    def _ready_sample(self, sample: Indices) -> Compare:
        pairs = zip(self.channels, self.encodings, strict=True)
        ready = [channel.against(codes.take(sample), single=len(self) >= MANY) for channel, codes in pairs]
        return lambda rows: [part.gram(codes.take(rows)) for part, codes in zip(ready, self.encodings, strict=True)]

    def examples(self, positions: Indices) -> Examples:
        return [self.images[place] for place in positions] if self.images else super().examples(positions)

    def histograms(self, owner: object, known: Indices) -> HistogramRows:
        if not all(map(compares_by_intersection, self.channels)):
            return super().histograms(owner, known)
        side = HistogramInput(self.channels)
        if not len(self):
            return HistogramRows(np.zeros((0, 1)), side)
        side.layout = SideBySide.of([codes.take(known) for codes in self.encodings], self.encodings)
        return HistogramRows(side.layout.rows(self.encodings), side)

    def input_of(self, positions: Indices, scales: Array) -> Input:
        side = ChannelInput(self.channels)
        side.encodings, side.scales = [codes.take(positions) for codes in self.encodings], scales
        return side

    @property
    def parameter(self) -> list[Channel]:
        return self.channels


def _moved(ready: Against[Any], old: Encodings, new: Encodings, part: Part) -> Against[Any]:
    """What refers to rows of a smaller pool refers to the same ones of a larger pool, so that the smaller one can go."""
    if not isinstance(ready, Plain) or not isinstance(old, RowEncodings) or not isinstance(new, RowEncodings):
        return ready
    shared = np.may_share_memory(_values(ready.rows), _values(old.matrix))
    return Plain(ready.kernel, new.part(*part).matrix) if shared else ready


def _values(rows: Rows) -> Array:
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.data)
