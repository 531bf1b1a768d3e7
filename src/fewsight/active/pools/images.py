"""A pool of images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.base import clone

from fewsight._base.types import Array, Indices
from fewsight.active.pools.base import Pool
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.channels import Channel, Encodings
from fewsight.kernels.against import Against
from fewsight.learners.examples import Examples
from fewsight.learners.histograms import HistogramInput, SideBySide, compares_by_intersection
from fewsight.learners.inputs import ChannelInput, Input


@final
class ImagePool(Pool):
    """Images, encoded once by one or several channels.

    What a channel learns (a codebook) it learns here, without labels, from the images at `learn_from` (all of them unless told
    otherwise), so that encodings do not change when labels come. Test images do not belong into `learn_from`.
    """

    def __init__(
        self, images: Sequence[Any], channels: Channel | Sequence[Channel], learn_from: Indices | None = None
    ) -> None:
        super().__init__()
        self.images = list(images)
        self.channels = [channels] if isinstance(channels, Channel) else list(channels)
        self.encodings: list[Encodings] = []
        if self.images:
            chosen = self.images if learn_from is None else [self.images[place] for place in learn_from]
            self.channels = [clone(channel).fit(chosen) for channel in self.channels]
            self.encodings = [channel.encode(self.images) for channel in self.channels]

    @classmethod
    def encoded(cls, channels: Sequence[Channel], encodings: Sequence[Encodings]) -> ImagePool:
        """Of images that fitted channels have encoded already."""
        pool = cls([], channels)
        pool.encodings = list(encodings)
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
            return [ready.gram(codes.take(rows)) for ready, codes in zip(self._ready, self.encodings, strict=True)]
        pairs = zip(self.channels, self.encodings, strict=True)
        return [channel.gram(codes.take(rows), codes.take(columns)) for channel, codes in pairs]

    @cached_property
    def _ready(self) -> list[Against]:
        """The whole pool, with which every example that gets a label is compared."""
        pairs = zip(self.channels, self.encodings, strict=True)
        return [channel.against(codes) for channel, codes in pairs]

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
