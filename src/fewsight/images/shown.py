"""Copies of an image for the screen: upright, small, encoded anew as JPEG without any of the file's metadata.

They are made of one decoding, by the same reading of the file as its hash and its features, and kept in the cache by the hash
of the content.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.images.cache import FeatureCache
from fewsight.images.capture import Capture, capture_of
from fewsight.images.image import ImageBytes
from fewsight.images.pixels import RESAMPLING, size_within, stands_on_its_side, upright
from fewsight.images.reading import Loaded, decode_with

SIDES = (320, 1600)  # pixels of the longest side: in a grid, and on the whole screen
WHOLE_SIDE = 8000  # of a copy at actual size: as much as a browser shows without trouble
QUALITY = 85
JPEG_START, JPEG_END = b"\xff\xd8", b"\xff\xd9"


@dataclass(frozen=True)
class Look:
    """What one decoding of an image gives: its size when it stands upright, time and camera, and the copies by their side."""

    width: int
    height: int
    capture: Capture
    copies: Mapping[int, bytes]


def look_at(image: ImageBytes) -> Look:
    """Decode an image once, for the screen. Raises UnreadableImage."""
    return decode_with(_look, image.content, image.name, max(SIDES), draft_gap=1)


def whole_copy(image: ImageBytes) -> bytes:
    """A copy at actual size, or as large as browsers show; made anew each time. Raises UnreadableImage."""
    return decode_with(_whole, image.content, image.name, WHOLE_SIDE, draft_gap=1)


def keep_copies(cache: FeatureCache, content_hash: str, copies: Mapping[int, bytes]) -> bool:
    """Put the copies into the cache; False if it took one of them not."""
    stored = [
        cache.put(_key(content_hash, side), State({}, {"jpeg": np.frombuffer(copy, dtype=np.uint8)}))
        for side, copy in copies.items()
    ]
    return all(stored)


def kept_copy(cache: FeatureCache, content_hash: str, side: int) -> bytes | None:
    """The copy of an image as JPEG, if the cache has it."""
    if side not in SIDES:
        raise InvalidInput(f"screen copies: side must be one of {SIDES}, got {shown(side)}.")
    return cache.read(_key(content_hash, side), _jpeg_from)


def _jpeg_from(state: State) -> bytes:
    copy = state.array("jpeg", (None,), np.uint8).tobytes()
    if not (copy.startswith(JPEG_START) and copy.endswith(JPEG_END)):
        raise InvalidInput("the stored copy must be a whole JPEG.")
    return copy


def _look(loaded: Loaded) -> Look:
    width, height = loaded.full_size
    if stands_on_its_side(loaded.image):
        width, height = height, width
    capture = capture_of(loaded.image)
    largest = _eight_bit(upright(loaded.image, loaded.size))
    return Look(width, height, capture, {side: _encoded(largest, side) for side in SIDES})


def _whole(loaded: Loaded) -> bytes:
    return _encoded(_eight_bit(upright(loaded.image, loaded.size)), WHOLE_SIDE)


def _eight_bit(picture: Pillow.Image) -> Pillow.Image:
    if picture.mode != "F":
        return picture
    return Pillow.fromarray(np.rint(np.clip(np.asarray(picture), 0, 1) * 255).astype(np.uint8))


def _encoded(picture: Pillow.Image, side: int) -> bytes:
    size = size_within(picture.size, side)
    small = picture if size == picture.size else picture.resize(size, RESAMPLING, reducing_gap=3.0)
    stream = io.BytesIO()
    Pillow.fromarray(np.asarray(small)).save(stream, "JPEG", quality=QUALITY)  # pixels only: no EXIF, no profile
    return stream.getvalue()


def _key(content_hash: str, side: int) -> str:
    return FeatureCache.key_of("screen copy", content_hash, {"side": side, "quality": QUALITY, "version": 1})
