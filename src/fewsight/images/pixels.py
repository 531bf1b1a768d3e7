"""From a Pillow image or an array to pixels: float32 (h, w, 3), RGB in [0, 1], upright, no larger than asked for.

Transparency is laid over white. Resizing goes only downwards, with an antialiasing filter, before the step to float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from fewsight._base.types import Pixels

RESAMPLING = Pillow.Resampling.BICUBIC
BLOCK = 2**22  # pixels
REDUCING_GAP = 3.0  # a first, coarse reduction stops at this multiple of the size asked for
DEEP_MODES = {"I", "F", "I;16", "I;16L", "I;16B", "I;16N"}  # one band of more than 8 bits

_ORIENTATION = 0x0112  # the EXIF tag
_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}
_QUARTER_TURNS = {_TURNS[orientation] for orientation in (5, 6, 7, 8)}


def size_within(size: tuple[int, int], longest_side: int | None) -> tuple[int, int]:
    """The width and height with the same proportions and no side above `longest_side`; neither falls below 1."""
    width, height = size
    longest = max(size)
    if longest_side is None or longest <= longest_side:
        return size
    return max(1, round(width * longest_side / longest)), max(1, round(height * longest_side / longest))


def pixels_of(image: Pillow.Image, size: tuple[int, int]) -> Pixels:
    """The pixels of a loaded Pillow image: resized to `size` (width, height, as stored), then turned upright."""
    return as_float(np.asarray(upright(image, size)))


def upright(image: Pillow.Image, size: tuple[int, int]) -> Pillow.Image:
    """A loaded Pillow image, resized to `size` (width, height, as stored), then turned: L, RGB, or F in [0, 1]."""
    turn = _turn_of(image)
    image = _over_white(_resized(_resizable(image), size))
    return image if turn is None else image.transpose(turn)


def stands_on_its_side(image: Pillow.Image) -> bool:
    """Whether turning the image upright exchanges width and height."""
    return _turn_of(image) in _QUARTER_TURNS


def pixels_of_array(values: npt.NDArray[Any], longest_side: int | None) -> Pixels:
    """The pixels of a checked array, (h, w) or (h, w, 1, 3 or 4); the fourth band is alpha.

    Arrays of uint8 take the way of image files, so that both give the same pixels.
    """
    size = size_within((values.shape[1], values.shape[0]), longest_side)
    planes = values.reshape(*values.shape[:2], -1)
    if values.dtype == np.uint8:
        return pixels_of(Pillow.fromarray(planes[:, :, 0] if planes.shape[2] == 1 else planes), size)
    colour = as_float(planes[:, :, :3])
    if planes.shape[2] == 4:
        alpha = as_float(planes[:, :, 3])
        colour = colour * alpha + (1 - alpha)
    return _resized_bands(colour, size)


def as_float(values: npt.NDArray[Any]) -> Pixels:
    """(h, w), (h, w, 1) or (h, w, 3) of uint8, uint16, bool or floats as pixels; floats are cut to [0, 1]."""
    planes = values[:, :, None] if values.ndim == 2 else values
    white = np.float32(np.iinfo(values.dtype).max if values.dtype.kind == "u" else 1)
    scaled: Pixels = np.divide(planes, white, dtype=np.float32)
    if values.dtype.kind == "f":
        np.clip(scaled, 0.0, 1.0, out=scaled)
    return np.repeat(scaled, 3, axis=2) if planes.shape[2] == 1 else scaled


def deep_to_unit(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Grey values of more than 8 bits, scaled to [0, 1]. Black is 0, and white depends on the type.

    16-bit: 65,535. 32-bit integers: 65,535 as well, or the largest value if that is more. Floats: the smallest of 1,
    255 and 65,535 that no value exceeds, or the largest value. Where there are values below 0, black is the smallest
    value and white the largest.
    """
    if values.dtype.kind == "u" and values.dtype.itemsize == 2:
        return np.divide(values, np.float32(65535), dtype=np.float32)
    black, white = _black_and_white(values)
    scaled = np.empty(values.shape, dtype=np.float32)
    for rows in _blocks(values):
        scaled[rows] = (_finite(values[rows]) - black) / (white - black)
    return scaled


def _black_and_white(values: npt.NDArray[Any]) -> tuple[float, float]:
    """The values that become 0 and 1; see `deep_to_unit`."""
    extremes = [(part.min(), part.max()) for part in (_finite(values[rows]) for rows in _blocks(values))]
    low, high = float(min(least for least, _ in extremes)), float(max(most for _, most in extremes))
    if low < 0:
        return low, max(high, float(np.nextafter(low, 0.0)))
    whites = (1.0, 255.0, 65535.0, high) if values.dtype.kind == "f" else (65535.0, high)
    return 0.0, next(white for white in whites if high <= white)


def _finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.nan_to_num(values.astype(np.float64), copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def _blocks(values: npt.NDArray[Any]) -> Iterator[slice]:
    """Rows of (h, w) values a few million at a time: in float64 a large image would take gigabytes."""
    step = max(1, BLOCK // values.shape[1])
    return (slice(start, start + step) for start in range(0, len(values), step))


def _turn_of(image: Pillow.Image) -> Pillow.Transpose | None:
    """What makes the image upright by its EXIF orientation, if anything; damaged EXIF data says nothing."""
    try:
        return _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a stranger's bytes: SyntaxError, struct.error, TypeError ...
        return None


def _resizable(image: Pillow.Image) -> Pillow.Image:
    """The image in a mode whose values can be averaged: L, RGB, RGBA, CMYK, or F in [0, 1]."""
    if image.mode in DEEP_MODES:
        return Pillow.fromarray(deep_to_unit(np.asarray(image)))
    if image.mode == "La":
        image = image.convert("LA")
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    if image.mode in {"L", "RGB", "CMYK"}:
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _resized(image: Pillow.Image, size: tuple[int, int]) -> Pillow.Image:
    return image if image.size == size else image.resize(size, RESAMPLING, reducing_gap=REDUCING_GAP)


def _resized_bands(colour: Pixels, size: tuple[int, int]) -> Pixels:
    if size == (colour.shape[1], colour.shape[0]):
        return colour
    bands = (Pillow.fromarray(np.ascontiguousarray(colour[:, :, band])) for band in range(3))
    return np.clip(np.stack([np.asarray(_resized(band, size)) for band in bands], axis=2), 0.0, 1.0)


def _over_white(image: Pillow.Image) -> Pillow.Image:
    """The image as L, F or RGB, without transparency."""
    if image.mode == "RGBA":
        white = Pillow.new("RGBA", image.size, "white")
        white.alpha_composite(image)
        return white.convert("RGB")
    return image if image.mode in {"L", "F", "RGB"} else image.convert("RGB")
