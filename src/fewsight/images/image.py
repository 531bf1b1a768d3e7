"""An image, wherever it comes from: a name to show, a hash of its content to know it by, and pixels when asked.

No image keeps its decoded pixels, so that a hundred thousand of them fit into little memory.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from fewsight._base.checks import check_integer, shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import Pixels
from fewsight.images.decoding import quiet_pillow
from fewsight.images.files import printable, read_bytes
from fewsight.images.hashing import hash_of
from fewsight.images.pixels import DEEP_MODES, pixels_of, pixels_of_array
from fewsight.images.reading import decode


class Image(ABC):
    """What the rest of fewsight knows of an image. Two images with the same `content_hash` have the same pixels."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What people call it: the path as given, for a file. Always printable."""

    @property
    @abstractmethod
    def content_hash(self) -> str:
        """A hash of the content as hexadecimal digits, computed when first asked for. Raises UnreadableImage."""

    @abstractmethod
    def pixels(self, longest_side: int | None = None) -> Pixels:
        """Float32 (h, w, 3), RGB in [0, 1]; resized if a side exceeds `longest_side`. Raises UnreadableImage."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


@final
class ImageFile(Image):
    """An image in a file, opened only when its hash or its pixels are asked for.

    The hash and the pixels always belong to the same content: a file that has changed since its hash was taken is
    unreadable through this object, and readable through a new one.
    """

    __slots__ = ("_hash", "path")

    def __init__(self, path: str | os.PathLike[str], content_hash: str | None = None) -> None:
        self.path: str = os.fspath(path)
        self._hash = content_hash  # where it is known already, the file is not read for it

    @property
    def name(self) -> str:
        return printable(self.path)

    @property
    def content_hash(self) -> str:
        if self._hash is None:
            self._hash = hash_of(read_bytes(self.path))
        return self._hash

    def pixels(self, longest_side: int | None = None) -> Pixels:
        content = read_bytes(self.path)
        found = hash_of(content)
        if self._hash not in (None, found):
            raise UnreadableImage(self.name, "the file has changed since it was first read")
        self._hash = found
        return decode(content, self.name, longest_side)


@final
class ImageBytes(Image):
    """The bytes of an image file in memory, for all that is made of one reading of the file: hash, copies, features.

    Pixels of each size that was asked for are kept, so this is not for many images at once.
    """

    __slots__ = ("_hash", "_name", "_pixels", "content")

    def __init__(self, content: bytes, name: str = "image") -> None:
        self.content = content
        self._name = name
        self._hash = hash_of(content)
        self._pixels: dict[int | None, Pixels] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def content_hash(self) -> str:
        return self._hash

    def pixels(self, longest_side: int | None = None) -> Pixels:
        if longest_side not in self._pixels:
            self._pixels[longest_side] = decode(self.content, self.name, longest_side)
        return self._pixels[longest_side].copy()


@final
class ImageArray(Image):
    """An image in memory: (h, w), (h, w, 1), (h, w, 3) or (h, w, 4) with alpha; uint8, uint16, bool, floats in [0, 1].

    The array is not copied; do not change it afterwards.
    """

    __slots__ = ("_array", "_hash", "_name")

    def __init__(self, array: npt.ArrayLike, name: str = "array") -> None:
        self._array = _checked(np.asarray(array))
        self._name = name
        self._hash: str | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def content_hash(self) -> str:
        if self._hash is None:
            array = np.ascontiguousarray(self._array)
            self._hash = hash_of(f"{array.shape} {array.dtype.str}".encode(), array.data)
        return self._hash

    def pixels(self, longest_side: int | None = None) -> Pixels:
        if longest_side is not None:
            check_integer("pixels", "longest_side", longest_side, least=1)
        return pixels_of_array(self._array, longest_side)


def as_image(source: Image | str | os.PathLike[str] | npt.NDArray[Any] | Pillow.Image) -> Image:
    """An Image from an Image, a path, an array or a Pillow image."""
    if isinstance(source, Image):
        return source
    if isinstance(source, (str, os.PathLike)):
        return ImageFile(source)
    if isinstance(source, np.ndarray):
        return ImageArray(source)
    if isinstance(source, Pillow.Image):
        return _from_pillow(source)
    raise InvalidInput(
        f"as_image: an image must be a path, an array, a Pillow image or an Image of fewsight, got {shown(source)}."
    )


def thumbnail(image: Image, side: int) -> npt.NDArray[np.uint8]:
    """A small copy for showing: uint8 (h, w, 3), no side above `side`. Raises UnreadableImage."""
    return np.rint(image.pixels(side) * 255).astype(np.uint8)


def _from_pillow(source: Pillow.Image) -> ImageArray:
    name = Path(getattr(source, "filename", "") or "").name
    name = printable(name) if name else "image"
    try:
        with quiet_pillow():
            source.load()
            pixels = pixels_of(source, source.size)
    except (OSError, ValueError, SyntaxError) as error:
        raise UnreadableImage(name, f"Pillow cannot decode it ({error})") from None
    deep = source.mode in DEEP_MODES
    return ImageArray(pixels if deep else np.rint(pixels * 255).astype(np.uint8), name)


def _checked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, if it can be an image."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)) or array.size == 0:
        raise InvalidInput(
            "ImageArray: array must be (h, w), (h, w, 1), (h, w, 3) or (h, w, 4) with at least one pixel, "
            f"got the shape {array.shape}."
        )
    if array.dtype.kind == "f":
        _check_floats(array)
    elif array.dtype != bool and (array.dtype.kind != "u" or array.dtype.itemsize > 2):
        raise InvalidInput(f"ImageArray: array must hold uint8, uint16, bool or floats in [0, 1], got {array.dtype}.")
    return array


def _check_floats(array: npt.NDArray[Any]) -> None:
    low, high = array.min(), array.max()  # NaN if there is one
    if not (low >= 0 and high <= 1):
        raise InvalidInput(
            f"ImageArray: an array of floats must lie in [0, 1], got values from {low:g} to {high:g}; "
            "divide by the value of white, or pass uint8."
        )
