"""Of several files of one picture, the one that the others were made from.

As a rule it is the largest file, and of equal ones the oldest. But a JPEG that is saved anew at a higher quality grows without
gaining anything, and its pixels differ a little from the original's. The original is then the file from which the other can
be made: encoded anew with the other's quantisation tables it gives the other's pixels, while the way back loses something.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from PIL import Image as Pillow
from PIL import JpegImagePlugin

from fewsight._base.errors import UnreadableImage
from fewsight._base.types import Indices
from fewsight.images.files import read_bytes
from fewsight.images.image import Image, ImageFile
from fewsight.images.reading import Loaded, decode_with, format_of

COMPARED_SIDE = 512  # pixels: the corner that is encoded anew; a multiple of 16, so that blocks stay where they are
_WITHOUT_LOSS = ("PNG", "BMP", "TIFF", "GIF")


class _Encoded(NamedTuple):
    """The upper left corner of a decoded file, and how a JPEG was encoded; without `tables` nothing is lost by encoding."""

    n_bytes: int
    corner: Pillow.Image
    full_size: tuple[int, int]
    tables: list[list[int]] | None
    sampling: int


def original_of_each(images: Sequence[Image], groups: Sequence[tuple[int, str | None]]) -> Indices:
    """The position of one image of each group of copies, the one that the others were made from as far as files tell."""
    members: dict[tuple[int, str | None], list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    return np.array(sorted(_original(images, positions) for positions in members.values()), dtype=np.intp)


def _original(images: Sequence[Image], positions: Sequence[int]) -> int:
    """The largest file, or the one that it was made from."""
    if len(positions) == 1:
        return positions[0]
    best, *others = sorted(positions, key=lambda position: (*_size_and_age(images[position]), position))
    for other in others:
        if images[best].content_hash != images[other].content_hash and _was_made_from(images[best], images[other]):
            best = other
    return best


def _size_and_age(image: Image) -> tuple[int, int]:
    """To sort by: large files first, of equal ones the oldest."""
    try:
        known = os.stat(image.path) if isinstance(image, ImageFile) else None
    except (OSError, ValueError):
        known = None
    return (0, 0) if known is None else (-known.st_size, known.st_mtime_ns)


def _was_made_from(image: Image, other: Image) -> bool:
    """Whether the other, encoded as this image was, gives its pixels more closely than the other way round.

    If both ways give them as closely, the larger file holds no more than the smaller, and was made from it.
    """
    here, there = _encoded(image), _encoded(other)
    if here is None or there is None or here.full_size != there.full_size:
        return False
    forth, back = _error(here, there), _error(there, here)
    return forth < back or (forth == back and there.n_bytes < here.n_bytes)


def _encoded(image: Image) -> _Encoded | None:
    """None of what is no file, cannot be read, or is of a format that is not taken apart here."""
    if not isinstance(image, ImageFile):
        return None
    try:
        content = read_bytes(image.path)
        if format_of(content) not in ("JPEG", *_WITHOUT_LOSS):
            return None
        return decode_with(partial(_corner, len(content)), content, image.name)
    except UnreadableImage:
        return None


def _corner(n_bytes: int, loaded: Loaded) -> _Encoded:
    image = loaded.image
    width, height = (min(side, COMPARED_SIDE) for side in image.size)
    corner = image.crop((0, 0, width, height)).convert("RGB")
    if not isinstance(image, JpegImagePlugin.JpegImageFile):
        return _Encoded(n_bytes, corner, image.size, None, 0)
    tables = [list(image.quantization[number]) for number in sorted(image.quantization)]
    return _Encoded(n_bytes, corner, image.size, tables, max(JpegImagePlugin.get_sampling(image), 0))


def _error(copy: _Encoded, source: _Encoded) -> float:
    """Mean difference of the copy's pixels from the source's, encoded as the copy was."""
    made = source.corner
    if copy.tables is not None:
        file = io.BytesIO()
        made.save(file, "JPEG", qtables=copy.tables, subsampling=copy.sampling)
        made = Pillow.open(file).convert("RGB")
    return float(np.abs(np.asarray(made, np.float32) - np.asarray(copy.corner, np.float32)).mean())
