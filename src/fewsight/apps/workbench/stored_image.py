"""Images of which only what the cache keeps is needed: their encodings, by the hash of their content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from fewsight._base.encodings import Encodings
from fewsight._base.errors import UnreadableImage
from fewsight._base.progress import silent
from fewsight._base.types import Pixels
from fewsight.channels import Channel
from fewsight.images import Image


@final
class StoredImage(Image):
    """An image known by its hash alone; its pixels are nowhere."""

    __slots__ = ("_hash",)

    def __init__(self, content_hash: str) -> None:
        self._hash = content_hash

    @property
    def name(self) -> str:
        return self._hash

    @property
    def content_hash(self) -> str:
        return self._hash

    def pixels(self, longest_side: int | None = None) -> Pixels:
        raise UnreadableImage(self.name, "its entry in the cache is gone")


def encodings_of(channels: Sequence[Channel], images: Sequence[str]) -> list[Encodings]:
    """By each channel, from the cache. Raises UnreadableImage if something is missing there."""
    with silent():
        return [channel.encode([StoredImage(image) for image in images]) for channel in channels]
