"""Every format and mode that is promised gives the right pixels."""

from __future__ import annotations

import importlib.util
import io
import struct
import threading
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow
from PIL import ImageFile as PillowFile

from fewsight._base.errors import UnreadableImage
from fewsight.images import ImageArray, ImageFile, read_pixels
from fewsight.images.pixels import deep_to_unit, size_within
from fewsight.images.reading import decode

RED, GREEN, BLUE, WHITE = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)


def encoded(image: Pillow.Image, form: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def quarters(size: int = 16) -> np.ndarray:
    """Red, green / blue, white: every turn and flip of it is different."""
    half = size // 2
    pixels = np.zeros((size, size + 8, 3), dtype=np.uint8)
    pixels[:half, :half] = (255, 0, 0)
    pixels[:half, half:] = (0, 255, 0)
    pixels[half:, :half] = (0, 0, 255)
    pixels[half:, half:] = (255, 255, 255)
    return pixels


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("form", "options", "tolerance"),
    [
        ("PNG", {}, 0),
        ("BMP", {}, 0),
        ("TIFF", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("TIFF", {"compression": "tiff_deflate"}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("GIF", {}, 0),
        ("JPEG", {"quality": 100, "subsampling": 0}, 0.02),
        ("JPEG", {"quality": 100, "subsampling": 0, "progressive": True}, 0.02),
        ("MPO", {"quality": 100, "subsampling": 0}, 0.02),
    ],
)
def test_every_format_gives_the_pixels_it_was_made_from(form: str, options: dict[str, Any], tolerance: float) -> None:
    pixels = decode(encoded(Pillow.fromarray(quarters()), form, **options), "picture")
    assert pixels.dtype == np.float32
    assert pixels.flags.writeable
    np.testing.assert_allclose(pixels, quarters() / 255, atol=tolerance + 1e-6)


def test_the_content_decides_not_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(encoded(Pillow.fromarray(quarters()), "PNG"))
    np.testing.assert_allclose(read_pixels(path), quarters() / 255, atol=1e-6)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("longest_side", [None, 12])
def test_exif_orientation_stands_every_photograph_upright(
    form: str, orientation: int, longest_side: int | None
) -> None:
    # What a camera stores when it is held so that the scene needs this turn to stand upright again.
    store: dict[int, Callable[[np.ndarray], np.ndarray]] = {
        1: lambda scene: scene,
        2: lambda scene: scene[:, ::-1],
        3: lambda scene: scene[::-1, ::-1],
        4: lambda scene: scene[::-1],
        5: lambda scene: scene.transpose(1, 0, 2),
        6: lambda scene: np.rot90(scene, 1),
        7: lambda scene: scene[::-1, ::-1].transpose(1, 0, 2),
        8: lambda scene: np.rot90(scene, -1),
    }
    scene = quarters(32)
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    options = {"quality": 95} if form == "JPEG" else {"lossless": True} if form == "WEBP" else {}
    stored = Pillow.fromarray(np.ascontiguousarray(store[orientation](scene)))
    pixels = decode(encoded(stored, form, exif=exif, **options), "picture", longest_side)
    height, width = pixels.shape[:2]
    assert (width, height) == size_within((scene.shape[1], scene.shape[0]), longest_side)
    corners = [pixels[1, 1], pixels[1, -2], pixels[-2, 1], pixels[-2, -2]]
    np.testing.assert_allclose(corners, [RED, GREEN, BLUE, WHITE], atol=0.15)


@pytest.mark.parametrize(
    "exif", [b"Exif\0\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\1" * 99]
)
def test_damaged_exif_data_does_not_spoil_a_photograph(exif: bytes) -> None:
    pixels = decode(encoded(Pillow.fromarray(quarters()), "JPEG", quality=95, exif=exif), "picture")
    assert pixels.shape == quarters().shape


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
@pytest.mark.parametrize("longest_side", [None, 8])
def test_16_bit_grey_is_scaled_not_clipped(form: str, longest_side: int | None) -> None:
    ramp = np.linspace(0, 65535, 16 * 16).round().astype(np.uint16).reshape(16, 16)
    pixels = decode(encoded(Pillow.fromarray(ramp), form), "picture", longest_side)
    assert pixels.min() < 0.05
    assert pixels.max() > 0.95
    assert np.unique(pixels).size > (250 if longest_side is None else 60)
    if longest_side is None:
        np.testing.assert_allclose(pixels[:, :, 0], ramp / 65535, atol=1e-6)


def test_16_bit_colour_png_keeps_its_brightness() -> None:
    # Pillow cannot write it: a hand-made file of one row, (65535, 32768, 0) and (256, 0, 65535).
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    row = b"\0" + struct.pack(">6H", 65535, 32768, 0, 256, 0, 65535)
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0))
    content += chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")
    expected = [[[1, 32768 / 65535, 0], [256 / 65535, 0, 1]]]
    np.testing.assert_allclose(decode(content, "picture"), expected, atol=1 / 255)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0, 0.5, 1]], np.float32), [0, 0.5, 1]),
        (np.array([[0, 51, 255]], np.float32), [0, 0.2, 1]),
        (np.array([[0, 6553.5, 65535]], np.float32), [0, 0.1, 1]),
        (np.array([[0, 50_000, 100_000]], np.float32), [0, 0.5, 1]),
        (np.array([[-1, 0, 1]], np.float32), [0, 0.5, 1]),
        (np.array([[np.nan, 0.5, 1]], np.float32), [0, 0.5, 1]),
        (np.array([[0, 0, 0]], np.float32), [0, 0, 0]),
        (np.array([[0, 100, 200]], np.int32), [0, 100 / 65535, 200 / 65535]),
        (np.array([[0, 2**29, 2**30]], np.int32), [0, 0.5, 1]),
        (np.array([[-(2**31), 0, 2**31 - 1]], np.int32), [0, 0.5, 1]),
        (np.array([[-7, -7, -7]], np.int32), [0, 0, 0]),
    ],
)
def test_32_bit_integers_and_floats_are_scaled_to_the_unit_range(values: np.ndarray, expected: list[float]) -> None:
    np.testing.assert_allclose(deep_to_unit(values)[0], expected, atol=1e-6)
    pixels = decode(encoded(Pillow.fromarray(values), "TIFF"), "picture")
    np.testing.assert_allclose(pixels[0, :, 1], expected, atol=1e-6)


def test_grey_black_and_white_and_cmyk_become_rgb() -> None:
    grey = np.arange(0, 256, dtype=np.uint8).reshape(16, 16)
    np.testing.assert_allclose(decode(encoded(Pillow.fromarray(grey), "PNG"), "p")[:, :, 2], grey / 255, atol=1e-6)
    bits = Pillow.fromarray(grey > 99)
    assert bits.mode == "1"
    np.testing.assert_array_equal(decode(encoded(bits, "PNG"), "p")[:, :, 0], grey > 99)
    cmyk = Pillow.fromarray(quarters()).convert("CMYK")
    np.testing.assert_allclose(decode(encoded(cmyk, "TIFF"), "p"), quarters() / 255, atol=0.01)
    np.testing.assert_allclose(decode(encoded(cmyk, "JPEG", quality=100), "p")[2, 2], RED, atol=0.05)


def test_transparency_is_laid_over_white() -> None:
    rgba = np.zeros((4, 4, 4), np.uint8)
    rgba[:, :2] = (255, 0, 0, 255)
    rgba[:, 2:] = (255, 0, 0, 0)
    rgba[0, :] = (0, 0, 255, 128)
    for form, options in (("PNG", {}), ("TIFF", {}), ("WEBP", {"lossless": True, "exact": True})):
        pixels = decode(encoded(Pillow.fromarray(rgba), form, **options), "p")
        np.testing.assert_allclose(pixels[2], [RED, RED, WHITE, WHITE], atol=0.01)
        np.testing.assert_allclose(pixels[0, 0], (0.498, 0.498, 1), atol=0.01)
    grey_alpha = Pillow.fromarray(np.array([[[0, 255], [0, 0]]], np.uint8))
    assert grey_alpha.mode == "LA"
    np.testing.assert_allclose(decode(encoded(grey_alpha, "PNG"), "p")[0], [(0, 0, 0), WHITE], atol=0.01)


@pytest.mark.parametrize("form", ["PNG", "GIF"])
def test_palettes_are_looked_up_and_their_transparent_entry_is_white(form: str) -> None:
    picture = Pillow.new("P", (3, 1))
    picture.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    picture.putdata([0, 1, 2])
    np.testing.assert_allclose(decode(encoded(picture, form), "p")[0], [RED, GREEN, BLUE], atol=1e-6)
    content = encoded(picture, form, transparency=1)
    np.testing.assert_allclose(decode(content, "p")[0], [RED, WHITE, BLUE], atol=1e-6)


def test_a_palette_with_transparency_bytes_and_a_transparent_colour_are_honoured() -> None:
    picture = Pillow.new("P", (2, 1))
    picture.putpalette([255, 0, 0, 0, 255, 0])
    picture.putdata([0, 1])
    content = encoded(picture, "PNG", transparency=bytes([255, 0]))
    np.testing.assert_allclose(decode(content, "p")[0], [RED, WHITE], atol=1e-6)
    colours = Pillow.fromarray(np.array([[(9, 9, 9), (0, 0, 255)]], np.uint8))
    keyed = encoded(colours, "PNG", transparency=(9, 9, 9))
    np.testing.assert_allclose(decode(keyed, "p")[0], [WHITE, BLUE], atol=1e-6)


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG", "TIFF"])
def test_the_first_frame_of_an_animation_is_the_image(form: str) -> None:
    first, second = Pillow.new("RGB", (8, 8), "red"), Pillow.new("RGB", (8, 8), "blue")
    content = encoded(first, form, save_all=True, append_images=[second])
    np.testing.assert_allclose(decode(content, "p")[4, 4], RED, atol=0.05)


@pytest.mark.parametrize(
    ("size", "longest_side", "expected"),
    [
        ((100, 50), 50, (50, 25)),
        ((50, 100), 50, (25, 50)),
        ((100, 50), 100, (100, 50)),
        ((100, 50), 1000, (100, 50)),
        ((1, 1), 300, (1, 1)),
        ((4000, 2), 300, (300, 1)),
        ((2000, 29), 100, (100, 1)),  # decoded at an eighth it is 250 x 4, whose proportions are others
        ((2, 4000), 1, (1, 1)),
    ],
)
def test_resizing_goes_only_downwards_and_no_side_vanishes(
    size: tuple[int, int], longest_side: int, expected: tuple[int, int]
) -> None:
    for form in ("PNG", "JPEG"):
        pixels = decode(encoded(Pillow.new("RGB", size, "red"), form), "p", longest_side)
        assert pixels.shape == (expected[1], expected[0], 3)
        np.testing.assert_allclose(pixels, np.broadcast_to(RED, pixels.shape), atol=0.02)


def test_resizing_averages_fine_patterns_away_instead_of_folding_them() -> None:
    stripes = np.zeros((256, 256), np.uint8)
    stripes[:, ::2] = 255
    pixels = decode(encoded(Pillow.fromarray(stripes), "PNG"), "p", 32)
    np.testing.assert_allclose(pixels, 0.5, atol=0.02)


def test_a_large_jpeg_is_decoded_small_and_looks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, columns = np.mgrid[:1024, :1536] / 1024
    scene = np.stack([rows, columns / 1.5, 0.5 + 0.5 * np.sin(9 * rows + 5 * columns)], axis=2)
    photograph = Pillow.fromarray((scene * 255).astype(np.uint8))
    decoded_sizes: list[tuple[int, int]] = []
    content = encoded(photograph, "JPEG", quality=95)
    load = PillowFile.ImageFile.load

    def watched(image: PillowFile.ImageFile) -> Any:
        decoded_sizes.append(image.size)
        return load(image)

    monkeypatch.setattr(PillowFile.ImageFile, "load", watched)
    small = decode(content, "p", 150)
    assert max(decoded_sizes[0]) <= 384
    assert small.shape == (100, 150, 3)
    whole = photograph.resize((150, 100), Pillow.Resampling.BICUBIC)
    assert np.abs(small - np.asarray(whole) / 255).mean() < 0.01


def test_pillows_warnings_stay_inside_the_reader_on_every_thread() -> None:
    exif = b"Exif\0\0II*\0\x08\0\0\0\x05\0" + b"\x12\x01\x03\0\xff\xff\xff\xff\xff\xff\xff\xff" * 5
    content = encoded(Pillow.fromarray(quarters()), "JPEG", exif=exif)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        threads = [threading.Thread(target=lambda: [decode(content, "p", 8) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert warnings.filters == before
    assert heard == []


def test_a_file_and_an_array_of_the_same_bytes_give_the_same_pixels(tmp_path: Path) -> None:
    values = noise(40, 30)
    path = tmp_path / "noise.png"
    Pillow.fromarray(values).save(path)
    for side in (None, 17):
        np.testing.assert_array_equal(ImageFile(path).pixels(side), ImageArray(values).pixels(side))


def test_heic_is_read_upright_where_the_extra_is_installed() -> None:
    pillow_heif = pytest.importorskip(
        "pillow_heif", reason="pillow-heif is not installed: pip install 'fewsight[heic]'"
    )
    exif = Pillow.Exif()
    exif[0x0112] = 6  # on its side
    stream = io.BytesIO()
    pillow_heif.from_pillow(Pillow.fromarray(quarters())).save(stream, quality=95, exif=exif.tobytes())
    plain = encoded(Pillow.fromarray(quarters()), "JPEG", quality=95, exif=exif)
    assert np.abs(decode(stream.getvalue(), "p") - decode(plain, "p")).mean() < 0.05
    with pytest.raises(UnreadableImage, match="damaged HEIC"):
        decode(stream.getvalue()[:100], "p")


def test_heic_without_the_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnreadableImage, match=r"HEIC, which is read with an extra: pip install 'fewsight\[heic\]'"):
        decode(b"\0\0\0\x18ftypheic" + bytes(100), "p")
