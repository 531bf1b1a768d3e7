"""Of several files of one picture, the one that the others were made from.

As a rule it is the largest file. But a JPEG that is saved anew at a higher quality grows without gaining anything, and its
pixels differ a little from the original's. The original is then the file from which the other can be made: encoded anew with
the other's quantisation tables it gives the other's pixels, while the way back loses something.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
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
    by_content = {images[position].content_hash: position for position in reversed(positions)}  # the first of each
    best, *others = sorted(by_content.values(), key=lambda position: (-_n_bytes(images[position]), position))
    for other in others:
        if _was_made_from(images[best], images[other]):
            best = other
    return best


def _n_bytes(image: Image) -> int:
    try:
        return os.stat(image.path).st_size if isinstance(image, ImageFile) else 0
    except (OSError, ValueError):
        return 0


def _was_made_from(image: Image, other: Image) -> bool:
    """Whether the other, a smaller file, gives this image's pixels when it is encoded alike, no worse than the other way round.

    If each gives the other's pixels, the larger file holds no more than the smaller, and was made from it.
    """
    here, there = _encoded(image), _encoded(other)
    if here is None or there is None or here.full_size != there.full_size:
        return False
    return _error(here, there) <= _error(there, here)


def _encoded(image: Image) -> _Encoded | None:
    """None of what is no file, cannot be read, or is of a format that is not taken apart here."""
    if not isinstance(image, ImageFile):
        return None
    try:
        content = read_bytes(image.path)
        form = format_of(content)
        return None if form != "JPEG" and form not in _WITHOUT_LOSS else decode_with(_corner, content, image.name)
    except UnreadableImage:
        return None


def _corner(loaded: Loaded) -> _Encoded:
    image = loaded.image
    width, height = (min(side, COMPARED_SIDE) for side in image.size)
    corner = image.crop((0, 0, width, height)).convert("RGB")
    if not isinstance(image, JpegImagePlugin.JpegImageFile):
        return _Encoded(corner, image.size, None, 0)
    tables = [list(image.quantization[number]) for number in sorted(image.quantization)]
    return _Encoded(corner, image.size, tables, max(JpegImagePlugin.get_sampling(image), 0))


def _error(copy: _Encoded, source: _Encoded) -> float:
    """Mean difference of the copy's pixels from the source's, encoded as the copy was."""
    made = source.corner
    if copy.tables is not None:
        file = io.BytesIO()
        made.save(file, "JPEG", qtables=copy.tables, subsampling=copy.sampling)
        made = Pillow.open(file).convert("RGB")
    return float(np.abs(np.asarray(made, np.float32) - np.asarray(copy.corner, np.float32)).mean())
