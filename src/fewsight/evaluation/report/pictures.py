"""Pictures inside the page: thumbnails and the heat map, as data URIs."""

from __future__ import annotations

import base64
import io

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from PIL import Image as PillowImage

from fewsight._base.errors import UnreadableImage
from fewsight._base.types import Array
from fewsight.images import ImageSet

RIGHT = (0, 114, 178)  # blue and vermilion: told apart by every kind of colour vision
WRONG = (213, 94, 0)


class Thumbnails:
    """Small versions of the images of a set, each made once."""

    def __init__(self, image_set: ImageSet) -> None:
        self._images = image_set.images
        self._made: dict[tuple[int, int], str | None] = {}

    def __call__(self, index: int, side: int) -> str | None:
        """A JPEG whose longest side has at most `side` pixels; None where the image cannot be read any more."""
        key = (int(index), side)
        if key not in self._made:
            self._made[key] = self._make(*key)
        return self._made[key]

    def _make(self, index: int, side: int) -> str | None:
        try:
            pixels = self._images[index].pixels(side)
        except UnreadableImage:
            return None
        picture = PillowImage.fromarray(np.round(255 * np.clip(pixels, 0, 1)).astype(np.uint8))
        picture.thumbnail((side, side))  # an image may ignore the wish for a small size
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=82, optimize=True)
        return data_uri("image/jpeg", stream.getvalue())


def heat_map(shares: Array) -> str:
    """Shares of each row as a picture with one pixel per cell: right in blue, wrong in vermilion, nothing transparent."""
    n = len(shares)
    cells: npt.NDArray[np.uint8] = np.empty((n, n, 4), dtype=np.uint8)
    diagonal = np.eye(n, dtype=bool)
    cells[..., :3] = np.where(diagonal[..., None], RIGHT, WRONG)
    cells[..., 3] = np.round(255 * np.sqrt(np.clip(shares, 0, 1)))  # a square root, so that rare confusions are seen
    stream = io.BytesIO()
    PillowImage.fromarray(cells).save(stream, "PNG", optimize=True)
    return data_uri("image/png", stream.getvalue())


def figure_address(figure: Figure, resolution: int) -> str:
    """A figure as a data address, at this many dots per inch; in pixels, so that names of categories are never markup."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=resolution)
    return data_uri("image/png", stream.getvalue())


def data_uri(kind: str, content: bytes) -> str:
    """Content as an address that holds it."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
