"""Safe reading of image files: whatever the bytes are, the answer is pixels or an UnreadableImage with a plain reason.

JPEG, PNG, TIFF, BMP, WebP and GIF are read (the first frame or page), whatever the file is called, and HEIC with an extra.
The size that a file claims is checked before anything of that size is decoded, and large images are decoded one after the
other, so that all threads together take at most about 2.5 gigabytes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from PIL import (  # the plugins register themselves when they are imported
    BmpImagePlugin,
    GifImagePlugin,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
from PIL import Image as Pillow

from fewsight._base.checks import check_integer
from fewsight._base.errors import UnreadableImage
from fewsight._base.types import Pixels
from fewsight.images.decoding import MAX_SCANS, Room, has_too_many_scans, quiet_libtiff, quiet_pillow
from fewsight.images.files import printable, read_bytes
from fewsight.images.pixels import pixels_of, size_within

MAX_PIXELS = 200_000_000
PLAUSIBLE_PIXELS = (
    10_000_000  # a larger image needs a byte for every PIXELS_PER_BYTE pixels; a blank page has one for 8,000
)
PIXELS_PER_BYTE = 10_000
SIGNATURE_BYTES = 16
DRAFT_GAP = 2  # a JPEG is decoded at 1/2, 1/4 or 1/8 while that is at least this many times the size asked for

_room = Room(MAX_PIXELS)  # of all threads
_NO_IMAGE = "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"
_PLUGINS = {
    "JPEG": JpegImagePlugin.jpeg_factory,
    "PNG": PngImagePlugin.PngImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
}
_SIGNATURES = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
)
_HEIC_BRANDS = (b"hei", b"hev", b"mif", b"msf")
_FOREIGN_BRANDS = {b"avi": "AVIF", b"crx": "Canon raw"}
_NO_HEIC = "HEIC, which is read with an extra: pip install 'fewsight[heic]', or save it as JPEG"

Result = TypeVar("Result")


class Loaded(NamedTuple):
    """A decoded image as it is stored, the size (width, height) to bring it to, and the size of the whole image."""

    image: Pillow.Image
    size: tuple[int, int]
    full_size: tuple[int, int]


def read_pixels(path: str | os.PathLike[str], longest_side: int | None = None) -> Pixels:
    """The pixels of an image file, upright, float32 (h, w, 3) in [0, 1]; resized if a side exceeds `longest_side`."""
    return decode(read_bytes(path), printable(path), longest_side)


def decode(content: bytes, name: str, longest_side: int | None = None) -> Pixels:
    """The pixels of an image file's bytes; `name` is what an UnreadableImage calls it."""
    return decode_with(lambda loaded: pixels_of(loaded.image, loaded.size), content, name, longest_side)


def decode_with(
    finish: Callable[[Loaded], Result],
    content: bytes,
    name: str,
    longest_side: int | None = None,
    draft_gap: int = DRAFT_GAP,
) -> Result:
    """What `finish` makes of the decoded image; it runs where bytes that no encoder wrote do no harm.

    A JPEG is decoded at 1/2, 1/4 or 1/8 while that is at least `draft_gap` times the size asked for.
    """
    if longest_side is not None:
        check_integer("pixels", "longest_side", longest_side, least=1)
    form = format_of(content)
    if form is None:
        raise UnreadableImage(name, _reason_for_no_format(content))
    if form == "HEIC" and importlib.util.find_spec("pillow_heif") is None:
        raise UnreadableImage(name, _NO_HEIC)
    if form == "JPEG" and has_too_many_scans(content):
        raise UnreadableImage(name, f"damaged JPEG (more than {MAX_SCANS} scans)")
    try:
        with quiet_pillow(), quiet_libtiff() if form == "TIFF" else contextlib.nullcontext():
            return _decode(finish, content, form, name, longest_side, draft_gap)
    except UnreadableImage:
        raise
    except MemoryError:
        raise UnreadableImage(name, "needs more memory than there is") from None
    except Exception as error:  # decoders fail in many ways on bytes that no encoder wrote
        raise UnreadableImage(name, _reason(error, form)) from None


def format_of(content: bytes) -> str | None:
    """The image format that the first bytes show, if it is one of those read here."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WEBP"
    if content[4:8] == b"ftyp" and content[8:11] in _HEIC_BRANDS:
        return "HEIC"
    return next((form for signature, form in _SIGNATURES if content.startswith(signature)), None)


def _decode(
    finish: Callable[[Loaded], Result],
    content: bytes,
    form: str,
    name: str,
    longest_side: int | None,
    draft_gap: int,
) -> Result:
    # Not Image.open: its limit on pixels is global to the process, and lower than ours.
    with _plugin(form)(io.BytesIO(content), None) as image:
        _check_size(image.size, len(content), name)
        full_size = image.size
        if longest_side is not None:
            width, height = size_within(full_size, longest_side)
            image.draft(None, (draft_gap * width, draft_gap * height))
        drafted = image.size != full_size
        with _room.taken(_pixels_in_memory(image, full_size)):
            image.load()  # turns a TIFF upright, which exchanges its sides
            whole = full_size if drafted else image.size
            return finish(Loaded(image, size_within(whole, longest_side), whole))


def _plugin(form: str) -> Callable[..., ImageFile.ImageFile]:
    if form != "HEIC":
        return _PLUGINS[form]
    from pillow_heif.as_plugin import HeifImageFile

    return HeifImageFile


def _pixels_in_memory(image: Pillow.Image, full_size: tuple[int, int]) -> int:
    """A progressive JPEG is kept whole until its last scan, however small it is asked for."""
    width, height = full_size if "progressive" in image.info else image.size
    return width * height


def _check_size(size: tuple[int, int], n_bytes: int, name: str) -> None:
    """Refuse what would take much memory: too many pixels, or many that so small a file cannot hold."""
    width, height = size
    if width < 1 or height < 1:
        raise UnreadableImage(name, "damaged (no pixels)")
    if width * height > MAX_PIXELS:
        raise UnreadableImage(name, f"{_amount(width * height)}, more than the limit of {_amount(MAX_PIXELS)}")
    if width * height > PLAUSIBLE_PIXELS + n_bytes * PIXELS_PER_BYTE:
        raise UnreadableImage(name, f"damaged (claims {_amount(width * height)} in {n_bytes:,} bytes)")


def _amount(pixels: int) -> str:
    return f"{pixels / 1e9:,.1f} gigapixels" if pixels >= 1e9 else f"{pixels / 1e6:,.0f} megapixels"


def _reason_for_no_format(content: bytes) -> str:
    if content[4:8] == b"ftyp" and content[8:11] in _FOREIGN_BRANDS:
        return f"{_FOREIGN_BRANDS[content[8:11]]}, a format that is not read here; save it as JPEG or PNG"
    return _NO_IMAGE if content else "empty file"


def _reason(error: Exception, form: str) -> str:
    text = str(error).lower()
    if isinstance(error, Pillow.DecompressionBombError):
        return f"damaged {form} (its parts claim more pixels than its header)"
    if isinstance(error, (EOFError, struct.error)) or "truncated" in text or "unexpected end" in text:
        return "truncated"
    if "unknown pixel mode" in text or "conversion from" in text:
        return f"a kind of {form} that is not read here"
    return f"damaged {form}"
