"""Of several files of one picture, that one is kept which the others were made from."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight.images import ImageArray, ImageFile, sample_set
from fewsight.images.originals import original_of_each

ONE = (0, "a")


def photograph(number: int = 0) -> Pillow.Image:
    """Four tiles of the sample set side by side: 256 pixels of real texture."""
    tiles = [np.rint(image.pixels() * 255).astype(np.uint8) for image in sample_set().images[number : number + 4]]
    return Pillow.fromarray(np.concatenate(tiles, axis=1))


def saved(image: Pillow.Image, path: Path, **options: int) -> ImageFile:
    image.save(path, **options)
    return ImageFile(path)


@pytest.mark.parametrize("quality", [30, 60, 75, 85, 95])
@pytest.mark.parametrize("number", [0, 100, 300])
def test_a_copy_at_another_quality_is_not_the_original(number: int, quality: int, tmp_path: Path) -> None:
    original = saved(photograph(number), tmp_path / "original.jpg", quality=68)
    copy = saved(Pillow.open(original.path), tmp_path / "copy.jpg", quality=quality)
    assert original_of_each([copy, original], [ONE, ONE]).tolist() == [1]
    assert original_of_each([original, copy], [ONE, ONE]).tolist() == [0]


def test_a_copy_of_a_copy_is_not_the_original(tmp_path: Path) -> None:
    first = saved(photograph(), tmp_path / "first.jpg", quality=50)
    second = saved(Pillow.open(first.path), tmp_path / "second.jpg", quality=70)
    third = saved(Pillow.open(second.path), tmp_path / "third.jpg", quality=90)
    assert original_of_each([third, second, first], [ONE] * 3).tolist() == [2]


def test_a_file_without_loss_is_the_original_of_a_larger_jpeg(tmp_path: Path) -> None:
    drawing = Pillow.new("RGB", (200, 150), "white")
    drawing.paste((200, 30, 40), (20, 30, 90, 77))
    original = saved(drawing, tmp_path / "original.png")
    copy = saved(drawing, tmp_path / "copy.jpg", quality=95)
    assert Path(copy.path).stat().st_size > Path(original.path).stat().st_size
    assert original_of_each([copy, original], [ONE, ONE]).tolist() == [1]


def test_a_smaller_picture_is_not_the_original(tmp_path: Path) -> None:
    original = saved(photograph(), tmp_path / "original.jpg", quality=75)
    small = saved(photograph().resize((64, 16)), tmp_path / "small.jpg", quality=75)
    assert original_of_each([small, original], [ONE, ONE]).tolist() == [1]


def test_of_equal_files_the_oldest_is_kept(tmp_path: Path) -> None:
    files = [saved(photograph(), tmp_path / f"{name}.png") for name in "abc"]
    for file, seconds in zip(files, (30, 10, 20), strict=True):
        os.utime(file.path, (seconds, seconds))
    assert original_of_each(files, [ONE] * 3).tolist() == [1]


def test_groups_are_kept_apart(tmp_path: Path) -> None:
    files = [saved(photograph(), tmp_path / f"{name}.png") for name in "abc"]
    assert original_of_each(files, [(0, "x"), (0, "y"), (0, "x")]).tolist() == [0, 1]


def test_grey_files_damaged_ones_and_arrays_are_no_obstacle(tmp_path: Path) -> None:
    grey = saved(photograph().convert("L"), tmp_path / "grey.jpg", quality=60)
    again = saved(Pillow.open(grey.path), tmp_path / "again.jpg", quality=90)
    assert original_of_each([again, grey], [ONE, ONE]).tolist() == [1]
    damaged = tmp_path / "damaged.jpg"
    damaged.write_bytes(Path(grey.path).read_bytes()[:400])
    assert original_of_each([ImageFile(damaged), grey], [ONE, ONE]).tolist() == [1]
    array = ImageArray(np.asarray(photograph()))
    assert original_of_each([array, grey], [ONE, ONE]).tolist() == [1]
