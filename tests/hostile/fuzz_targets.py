"""What is fuzzed: readers of images, of model files and of cache entries, each with good files to start from.

A target makes an input from a random generator and reads it. `read` returns a word for how that ended, and raises only
where something is wrong: anything that is not a FewsightError, or an answer that is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import Models, few_images
from fuzz_mutations import mutated
from fuzz_vectors import Networks, Tables
from hostile_kinds import (
    DAMAGED_EXIF,
    Tile,
    deep,
    deep_colour_png,
    encoded,
    exif,
    floating,
    interlaced_png,
    see_through,
)
from PIL import Image as Pillow

from fewsight._base.errors import UnreadableImage
from fewsight.channels import SpatialPmk
from fewsight.images import FeatureCache
from fewsight.images.reading import decode

SIDES = (None, 300, 16)


class Target(ABC):
    """Something that reads files of strangers."""

    @abstractmethod
    def make(self, rng: np.random.Generator) -> bytes:
        """An input: a good file, damaged."""

    @abstractmethod
    def read(self, content: bytes) -> str:
        """Read it; how that ended, in a word."""


class Images(Target):
    """The image reader: pixels or an UnreadableImage."""

    def __init__(self, folder: Path) -> None:
        self.seeds = image_seeds()

    def make(self, rng: np.random.Generator) -> bytes:
        return mutated(self.seeds[int(rng.integers(len(self.seeds)))], self.seeds, rng)

    def read(self, content: bytes) -> str:
        try:
            pixels = decode(content, "input", SIDES[len(content) % len(SIDES)])
        except UnreadableImage as error:
            str(error).encode()
            return "no memory" if "memory" in error.reason else "unreadable"
        assert pixels.dtype == np.float32
        assert pixels.ndim == 3
        assert pixels.shape[2] == 3
        assert 0 <= pixels.min() <= pixels.max() <= 1
        return "pixels"


class CacheEntries(Target):
    """The cache: a damaged entry is computed again, so that what comes out is always the same."""

    def __init__(self, folder: Path) -> None:
        self.image = few_images().images[0]
        self.channel = SpatialPmk(scales=(1.0,), step=16, longest_side=64, cache=FeatureCache(folder / "cache"))
        self.expected = self.channel.local_features([self.image])[0]
        self.path = next((folder / "cache").glob("*/*"))
        self.seeds = [self.path.read_bytes()]

    def make(self, rng: np.random.Generator) -> bytes:
        return mutated(self.seeds[0], self.seeds, rng)

    def read(self, content: bytes) -> str:
        self.path.write_bytes(content)
        found = self.channel.local_features([self.image])[0]
        np.testing.assert_array_equal(found.descriptors, self.expected.descriptors)
        np.testing.assert_array_equal(found.locations, self.expected.locations)
        return "unharmed"


TARGETS: dict[str, type[Any]] = {
    "images": Images,
    "models": Models,
    "cache": CacheEntries,
    "networks": Networks,
    "tables": Tables,
}


def image_seeds() -> list[bytes]:
    """Small good images of every format and mode that is read."""
    tile = np.rint(few_images(1).images[0].pixels(24) * 255).astype(np.uint8)
    image = Pillow.fromarray(tile)
    grey, palette = image.convert("L"), image.convert("P", palette=Pillow.Palette.ADAPTIVE, colors=16)
    made: list[tuple[Pillow.Image, str, dict[str, Any]]] = [
        (image, "JPEG", {}),
        (image, "JPEG", {"progressive": True, "exif": exif(6)}),
        (image, "JPEG", {"exif": DAMAGED_EXIF, "restart_marker_blocks": 2}),
        (grey, "JPEG", {"optimize": True}),
        (image.convert("CMYK"), "JPEG", {}),
        (image.resize((600, 400)), "JPEG", {"quality": 30}),
        (image, "MPO", _two_frames(tile)),
        (image, "PNG", {}),
        (grey, "PNG", {}),
        (palette, "PNG", {"transparency": 3}),
        (image.convert("1"), "PNG", {}),
        (see_through(image.copy()), "PNG", {"exif": exif(3)}),
        (deep(image), "PNG", {}),
        (image, "PNG", _two_frames(tile)),
        (image, "GIF", _two_frames(tile)),
        (palette, "GIF", {"transparency": 2, "interlace": True}),
        (image, "BMP", {}),
        (palette, "BMP", {}),
        (image.convert("1"), "BMP", {}),
        (image, "WEBP", {}),
        (image, "WEBP", {"lossless": True, "exif": exif(8)}),
        (see_through(image.copy()), "WEBP", {}),
        (image, "WEBP", _two_frames(tile)),
        (image, "TIFF", _two_frames(tile)),
        (deep(image), "TIFF", {"exif": exif(5)}),
        (floating(image), "TIFF", {}),
        (image.convert("1"), "TIFF", {"compression": "group4"}),
        (image.convert("CMYK"), "TIFF", {"compression": "tiff_adobe_deflate"}),
        (image, "TIFF", {"compression": "tiff_lzw"}),
        (image, "TIFF", {"compression": "packbits"}),
        (image, "TIFF", {"compression": "jpeg"}),
        (palette, "TIFF", {"big_tiff": True}),
    ]
    written = [encoded(image.copy(), form, **options) for image, form, options in made]
    return [*written, interlaced_png(tile), deep_colour_png(tile)]


def _two_frames(tile: Tile) -> dict[str, Any]:
    """Made anew each time: Pillow leaves the options of one format in an image that it has written."""
    return {"save_all": True, "append_images": [Pillow.fromarray(np.roll(tile, 5, axis=0))]}
