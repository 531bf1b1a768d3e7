"""Families of channels: windows and codebooks that a learner asks for while it learns. [Gehler2009, sections 4 and 5]"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, final

import numpy as np

from fewsight.channels.base import Channel
from fewsight.channels.windows import MOST_CODEBOOK, Windows
from fewsight.encodings import WHOLE, draw_box
from fewsight.kernels.families import KernelFamily, Theta


@dataclass(frozen=True)
class ImageFamily(KernelFamily[Sequence[Any], Channel], ABC):
    """A family of channels of images."""


@dataclass(frozen=True)
class _WindowsFamily(ImageFamily, ABC):
    """Windows channels; the options are theirs. See `Windows`."""

    n_words: int = 300
    method: str = "kmeans"
    assignment: str = "hard"
    n_components: int = 0
    n_descriptors: int = 100_000
    longest_side: int = 300
    step: float = 8
    patch: int = 16
    scales: tuple[float, ...] = (1.0, 1.5, 2.0)
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", tuple(self.scales))
        self._channel().check()

    def _channel(self, **more: Any) -> Windows:
        shared = {each.name: getattr(self, each.name) for each in fields(_WindowsFamily)}
        return Windows(**shared, **{"boxes": (WHOLE,), **more})

    def _checked(self, channel: Windows) -> Windows:
        channel.check()
        return channel


@final
@dataclass(frozen=True)
class BoxFamily(_WindowsFamily):
    """exp(-chi-square / its median) of the words in a box, with theta = the box: left, top, right, bottom as shares of the image.

    Boxes are drawn evenly from all that lie in the image; all share one codebook.

    Parameters
    ----------
    n_words : words of a codebook.
    method : "kmeans" for words that are centres of clusters, "random" for descriptors drawn at random.
    assignment : "hard" counts the nearest word of a local feature, "soft" shares it among the four nearest.
    n_components : dimensions that descriptors are reduced to; 0 leaves them as they are.
    n_descriptors : descriptors drawn from the training images to learn codebooks from.
    longest_side : of the images, in pixels; larger ones are made smaller.
    step : distance of two descriptors of the grid, in pixels.
    patch : side of the square that a descriptor of scale 1 covers, in pixels.
    scales : the squares are larger by each of these.
    random_state : the seed of codebooks.
    """

    kind: ClassVar[str] = "boxes"

    def propose(self, examples: Sequence[Any], rng: np.random.Generator) -> Theta:
        return {"box": list(draw_box(rng))}

    def make(self, theta: Theta) -> Windows:
        (box,) = self._parameters(theta, "box")
        return self._checked(self._channel(boxes=(tuple(box) if isinstance(box, list) else box,)))


@final
@dataclass(frozen=True)
class CodebookFamily(_WindowsFamily):
    """exp(-chi-square / its median) of the words of one codebook, with theta = the number of the codebook, which is a seed.

    Codebooks are drawn from the descriptors of the training images, or are centres of clusters of them (`method`).

    Parameters
    ----------
    n_words : words of a codebook.
    method : "kmeans" for words that are centres of clusters, "random" for descriptors drawn at random.
    assignment : "hard" counts the nearest word of a local feature, "soft" shares it among the four nearest.
    n_components : dimensions that descriptors are reduced to; 0 leaves them as they are.
    n_descriptors : descriptors drawn from the training images to learn codebooks from.
    longest_side : of the images, in pixels; larger ones are made smaller.
    step : distance of two descriptors of the grid, in pixels.
    patch : side of the square that a descriptor of scale 1 covers, in pixels.
    scales : the squares are larger by each of these.
    random_state : the seed of codebooks.
    """

    kind: ClassVar[str] = "codebooks"
    method: str = "random"

    def propose(self, examples: Sequence[Any], rng: np.random.Generator) -> Theta:
        return {"codebook": int(rng.integers(1, MOST_CODEBOOK))}

    def make(self, theta: Theta) -> Windows:
        (number,) = self._parameters(theta, "codebook")
        return self._checked(self._channel(codebooks=(number,)))
