"""Screen copies are upright, small, JPEG, without metadata, and come back from the cache."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.images import FeatureCache, ImageBytes
from fewsight.images.capture import Capture
from fewsight.images.shown import SIDES, keep_copies, kept_copy, look_at


def encoded(picture: Pillow.Image, form: str = "JPEG", **options: object) -> ImageBytes:
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    return ImageBytes(stream.getvalue(), "a photograph")


def halves(width: int, height: int) -> Pillow.Image:
    """Red above, blue below."""
    picture = Pillow.new("RGB", (width, height), "blue")
    picture.paste("red", (0, 0, width, height // 2))
    return picture


def opened(copy: bytes) -> Pillow.Image:
    picture = Pillow.open(io.BytesIO(copy))
    assert picture.format == "JPEG"
    return picture


def test_copies_are_small_and_carry_nothing_of_the_file() -> None:
    exif = Pillow.Exif()
    exif[0x010F] = "SECRET MAKER"
    exif.get_ifd(0x8825)[2] = (50.0, 0.0, 0.0)  # a place on the map
    look = look_at(encoded(halves(2000, 1000), quality=95, exif=exif, comment=b"SECRET", icc_profile=b"SECRET" * 30))
    assert (look.width, look.height) == (2000, 1000)
    assert look.capture == Capture(None, "SECRET MAKER")
    assert [opened(look.copies[side]).size for side in SIDES] == [(320, 160), (1600, 800)]
    for copy in look.copies.values():
        assert b"SECRET" not in copy
        assert not opened(copy).getexif()
        top, bottom = np.asarray(opened(copy))[[10, -10], 50].astype(int)
        assert abs(top - [255, 0, 0]).max() < 12
        assert abs(bottom - [0, 0, 255]).max() < 12


@pytest.mark.parametrize(("orientation", "turned"), [(3, False), (6, True), (8, True)])
def test_a_photograph_that_lies_on_its_side_is_turned(orientation: int, turned: bool) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    look = look_at(encoded(halves(400, 200), exif=exif))
    assert (look.width, look.height) == ((200, 400) if turned else (400, 200))
    assert opened(look.copies[320]).size == ((160, 320) if turned else (320, 160))


@pytest.mark.parametrize("size", [(1, 1), (3, 20_000), (20_000, 3)])
def test_odd_shapes(size: tuple[int, int]) -> None:
    look = look_at(encoded(Pillow.new("RGB", size), "PNG"))
    assert (look.width, look.height) == size
    assert max(opened(look.copies[320]).size) == min(320, max(size))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_every_mode_can_be_shown(mode: str) -> None:
    values = (np.linspace(0, 1, 400).reshape(20, 20) * {"I;16": 65535, "F": 1}.get(mode, 255)).round(2)
    if mode in ("I;16", "F"):
        picture = Pillow.fromarray(values.astype(np.uint16 if mode == "I;16" else np.float32))
    else:
        picture = Pillow.fromarray(values.astype(np.uint8)).convert(mode)
    grey = np.asarray(opened(look_at(encoded(picture, "TIFF")).copies[320]).convert("L"), dtype=float)
    assert grey.shape == (20, 20)
    assert grey[-3:].mean() > grey[:3].mean() + 100 or mode == "CMYK"


def test_copies_come_back_from_the_cache(tmp_path: Path) -> None:
    cache, image = FeatureCache(tmp_path), encoded(halves(40, 40))
    look = look_at(image)
    assert kept_copy(cache, image.content_hash, 320) is None
    assert keep_copies(cache, image.content_hash, look.copies)
    assert kept_copy(cache, image.content_hash, 320) == look.copies[320]
    assert kept_copy(cache, image.content_hash, 1600) == look.copies[1600]
    for damaged in (b"", look.copies[320][:-9], b"GIF89a", look.copies[320][2:]):
        keep_copies(cache, image.content_hash, {320: damaged})
        assert kept_copy(cache, image.content_hash, 320) is None
    with pytest.raises(InvalidInput, match="side must be one of"):
        kept_copy(cache, image.content_hash, 99)


def test_a_broken_file_says_why() -> None:
    with pytest.raises(UnreadableImage, match="a photograph: truncated"):
        look_at(ImageBytes(encoded(halves(400, 400), quality=95).content[:600], "a photograph"))


def test_bytes_are_an_image_like_the_file_they_came_from(tmp_path: Path) -> None:
    from fewsight.images import ImageFile

    image = encoded(halves(60, 40), "PNG")
    (tmp_path / "a.png").write_bytes(image.content)
    file = ImageFile(tmp_path / "a.png")
    assert image.content_hash == file.content_hash
    np.testing.assert_array_equal(image.pixels(20), file.pixels(20))
    image.pixels(20)[:] = 0  # nobody's work changes what the next one sees
    np.testing.assert_array_equal(image.pixels(20), file.pixels(20))
