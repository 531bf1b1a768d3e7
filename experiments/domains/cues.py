"""Gram matrices of channels that see pixels, and vectors of the network, on a part of each set that is split once.

Of every category LEARNED images may be learned from and TESTED others are tested on; which is which does not depend on a seed, so
that codebooks and scales are learned once, without labels, from images that are never tested. A seed draws what is learned from
the first part. Of Caltech-101 twenty categories take part, of a texture five tiles are learned from and four tested.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from experiments.domains.vectors import BRODATZ, CALTECH, MORE, READERS, read_vectors
from fewsight._base.replacement import replacing
from fewsight._base.types import Array, Indices
from fewsight.channels import make_channel
from fewsight.images import FeatureCache

LEARNED, TESTED = 30, 30
TILES_LEARNED, TILES_TESTED = 5, 4
CATEGORIES = {CALTECH: 20, BRODATZ: 30}  # of all others, all
SOURCES = (*MORE, BRODATZ, CALTECH)


@dataclass(frozen=True)
class CueSet:
    """One set: which images take part, and what channels make of them."""

    source: str
    data: Path
    work: Path

    @cached_property
    def labels(self) -> np.ndarray:
        """Of all images of the set."""
        return read_vectors(self.source, self.data, self.work).labels

    @cached_property
    def parts(self) -> tuple[Indices, Indices]:
        """Positions of the images to learn from and to test on, category by category."""
        learned, tested = (TILES_LEARNED, TILES_TESTED) if self.source == BRODATZ else (LEARNED, TESTED)
        rng = np.random.default_rng(1)
        names, counts = np.unique(self.labels, return_counts=True)
        enough = names[counts >= learned + (tested if self.source == BRODATZ else 15)]
        chosen = np.sort(rng.permutation(enough)[: CATEGORIES.get(self.source)])
        orders = [rng.permutation(np.flatnonzero(self.labels == name))[: learned + tested] for name in chosen]
        return np.concatenate([o[:learned] for o in orders]), np.concatenate([o[learned:] for o in orders])

    @property
    def per_class(self) -> int:
        """How many images of a category can be learned from."""
        return TILES_LEARNED if self.source == BRODATZ else LEARNED

    @cached_property
    def codes(self) -> tuple[Indices, Indices]:
        """Categories of both parts as numbers from 0."""
        first, second = (self.labels[part] for part in self.parts)
        names = np.unique(first)
        return np.searchsorted(names, first), np.searchsorted(names, second)

    @cached_property
    def vectors(self) -> tuple[Array, Array]:
        """What `pretrained` compares, of both parts."""
        known = read_vectors(self.source, self.data, self.work)
        return known.rows(self.parts[0]), known.rows(self.parts[1])

    def drawn(self, per_class: int, seed: int) -> Indices:
        """Which of the first part are learned from: smaller draws are the beginning of larger ones."""
        order = np.random.default_rng(seed).permutation(len(self.codes[0]))
        places = np.argsort(self.codes[0][order], kind="stable").reshape(-1, self.per_class)[:, :per_class]
        return order[places.ravel()]

    def gram(self, channel: str) -> tuple[Array, Array, float]:
        """Of the first part (n, n), of the second with the first (m, n), and the seconds that one image took."""
        path = self.work / "cues" / self.source / f"{channel}.npz"
        if not path.exists():
            self._make(channel, path)
        with np.load(path) as kept:
            return kept["train"], kept["test"], float(kept["seconds"])

    def _make(self, channel: str, path: Path) -> None:
        images = READERS[self.source](self.data).images
        learned, tested = ([images[place] for place in part] for part in self.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        start = time.process_time()
        cache = FeatureCache(self.work / "cache", 4 * 2**30)
        fitted = make_channel(channel, cache=cache, n_jobs=1, random_state=0).fit(learned)
        first, second = fitted.encode(learned), fitted.encode(tested)
        seconds = (time.process_time() - start) / (len(learned) + len(tested))
        train, test = fitted.kernel.gram(first), fitted.kernel.gram(second, first)
        with replacing(path) as stream:
            np.savez(stream, train=train, test=test, seconds=seconds)


def all_sets(data: Path, work: Path, sources: Sequence[str] = SOURCES) -> list[CueSet]:
    """The sets of the bench, as far as they are wanted."""
    return [CueSet(source, data, work) for source in sources]
