"""Images of every origin: what is accepted, what is refused, and what they are known by."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput
from fewsight.images import ImageArray, ImageFile, UnreadableImage, as_image, thumbnail


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 1), (5, 4, 3), (5, 4, 4), (1, 1), (1, 1, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.dtype(">u2"), bool, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("longest_side", [None, 3])
def test_arrays_of_every_promised_kind_give_pixels(
    shape: tuple[int, ...], dtype: Any, longest_side: int | None
) -> None:
    white = {"u": 2 ** (8 * np.dtype(dtype).itemsize) - 1}.get(np.dtype(dtype).kind, 1)
    image = ImageArray(np.full(shape, white).astype(dtype))
    pixels = image.pixels(longest_side)
    assert pixels.dtype == np.float32
    expected = (3, 2, 3) if longest_side and shape[0] == 5 else (*shape[:2], 3)
    assert pixels.shape == expected
    np.testing.assert_allclose(pixels, 1.0, atol=1e-3)


def test_values_of_arrays_are_scaled_by_their_type() -> None:
    np.testing.assert_allclose(ImageArray(np.array([[51, 255]], np.uint8)).pixels()[0, :, 0], [0.2, 1])
    np.testing.assert_allclose(ImageArray(np.array([[13107, 65535]], np.uint16)).pixels()[0, :, 0], [0.2, 1])
    np.testing.assert_allclose(ImageArray(np.array([[0.2, 1.0]])).pixels()[0, :, 0], [0.2, 1], rtol=1e-6)
    half_clear = np.array([[[0.0, 0.0, 1.0, 0.5]]])
    np.testing.assert_allclose(ImageArray(half_clear).pixels()[0, 0], [0.5, 0.5, 1])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3,)), r"must be \(h, w\), .* got the shape \(3,\)"),
        (np.zeros((3, 3, 2)), r"got the shape \(3, 3, 2\)"),
        (np.zeros((0, 3)), r"at least one pixel, got the shape \(0, 3\)"),
        (np.zeros((2, 2), int), "must hold uint8, uint16, bool or floats in .*, got int64"),
        (np.full((2, 2), 200.0), r"must lie in \[0, 1\], got values from 200 to 200; divide"),
        (np.full((2, 2), -0.5), r"must lie in \[0, 1\]"),
        (np.array([[0.5, np.nan]]), r"must lie in \[0, 1\]"),
        (np.array([["a", "b"]]), "got <U1"),
        (np.zeros((2, 2), complex), "got complex128"),
    ],
)
def test_arrays_that_are_no_images_are_refused_with_a_sentence(array: np.ndarray, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ImageArray(array)


def test_the_hash_of_a_file_follows_its_content_not_its_name(tmp_path: Path) -> None:
    Pillow.fromarray(noise(9, 9, 3)).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes())
    Pillow.fromarray(noise(9, 8, 3)).save(tmp_path / "c.png")
    a, b, c = (ImageFile(tmp_path / name).content_hash for name in ("a.png", "b.png", "c.png"))
    assert a == b != c
    assert len(a) == 40
    int(a, 16)


def test_the_hash_of_an_array_follows_shape_type_and_values() -> None:
    values = np.zeros((4, 6), np.uint8)
    changed = values.copy()
    changed[0, 0] = 1
    variants = [values, values.reshape(6, 4), values.astype(bool), values.astype(np.uint16), changed]
    assert len({ImageArray(variant).content_hash for variant in variants}) == len(variants)
    assert ImageArray(noise(6, 6)[::2, ::2]).content_hash == ImageArray(noise(6, 6)[::2, ::2].copy()).content_hash


def test_a_file_that_changes_never_mixes_old_hash_and_new_pixels(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Pillow.fromarray(noise(9, 9, 3)).save(path)
    image = ImageFile(path)
    first = image.content_hash
    Pillow.fromarray(noise(8, 8, 3)).save(path)
    with pytest.raises(UnreadableImage, match="has changed since"):
        image.pixels()
    assert image.content_hash == first
    assert ImageFile(path).pixels().shape == (8, 8, 3)


def test_reading_the_pixels_also_settles_the_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Pillow.fromarray(noise(9, 9, 3)).save(path)
    image = ImageFile(path)
    image.pixels()
    expected = ImageFile(path).content_hash
    path.unlink()
    assert image.content_hash == expected


def test_as_image_takes_paths_arrays_pillow_images_and_images(tmp_path: Path) -> None:
    values = noise(9, 7, 3)
    path = tmp_path / "a.png"
    Pillow.fromarray(values).save(path)
    kept = ImageArray(values, "kept")
    assert as_image(kept) is kept
    with Pillow.open(path) as opened:
        sources: list[Any] = [kept, str(path), path, values, Pillow.fromarray(values), opened]
        for source in sources:
            np.testing.assert_array_equal(as_image(source).pixels(), kept.pixels())
        assert as_image(opened).name == "a.png"
    assert as_image(str(path)).name == str(path)
    with pytest.raises(InvalidInput, match=r"as_image: an image must be a path, .* got 3"):
        as_image(3)  # type: ignore[arg-type]


def test_a_16_bit_pillow_image_keeps_its_depth() -> None:
    ramp = np.arange(0, 65536, 257, dtype=np.uint16).reshape(16, 16)
    np.testing.assert_allclose(as_image(Pillow.fromarray(ramp)).pixels()[:, :, 0], ramp / 65535, atol=1e-6)


def test_a_pillow_image_that_cannot_be_decoded_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    Pillow.fromarray(noise(64, 64, 3)).save(path)
    path.write_bytes(path.read_bytes()[:800])
    with Pillow.open(path) as opened, pytest.raises(UnreadableImage, match=r"a\.jpg: Pillow cannot decode it"):
        as_image(opened)


def test_thumbnails_are_small_and_8_bit() -> None:
    small = thumbnail(ImageArray(noise(100, 50, 3)), 20)
    assert small.shape == (20, 10, 3)
    assert small.dtype == np.uint8
    np.testing.assert_array_equal(thumbnail(ImageArray(noise(9, 9, 3)), 20), noise(9, 9, 3))


@pytest.mark.parametrize("side", [0, -1, 1.5, True])
def test_a_longest_side_that_is_no_size_is_refused(side: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Pillow.fromarray(noise(9, 9, 3)).save(path)
    for image in (ImageArray(noise(9, 9)), ImageFile(path)):
        with pytest.raises(InvalidInput, match="longest_side must be a whole number >= 1"):
            image.pixels(side)


def test_image_files_are_light_and_can_be_copied_to_other_processes() -> None:
    image = ImageFile(os.path.join("folder", "a.png"))
    assert not hasattr(image, "__dict__")
    assert copy.deepcopy(image).name == image.name == os.path.join("folder", "a.png")
    assert repr(ImageFile("a.png")) == "ImageFile('a.png')"
