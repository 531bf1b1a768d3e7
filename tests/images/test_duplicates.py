"""The same picture is found after another encoding, quality or size; other pictures, mirror images and crops are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput
from fewsight.images import FeatureCache, Image, ImageArray, ImageFile, KnownLooks, find_duplicates, sample_set
from fewsight.images.duplicates import Duplicates
from fewsight.images.looks import look_of

TILES = sample_set().images[::11]
CHANGES = {
    "another quality": {"form": "JPEG", "quality": 50},
    "a low quality": {"form": "JPEG", "quality": 30},
    "another format": {"form": "WEBP", "quality": 60},
    "half the size": {"form": "JPEG", "quality": 75, "scale": 0.5},
    "twice the size": {"form": "PNG", "scale": 2.0},
    "an odd size": {"form": "JPEG", "quality": 75, "scale": 0.7},
}


def picture(image: Image) -> Pillow.Image:
    return Pillow.fromarray(np.rint(image.pixels() * 255).astype(np.uint8))


def copied(images: Sequence[Image], folder: Path, *, form: str, scale: float = 1.0, **options: int) -> list[ImageFile]:
    """Each image saved anew."""
    files = []
    for number, image in enumerate(images):
        original = picture(image)
        size = (max(1, round(original.width * scale)), max(1, round(original.height * scale)))
        path = folder / f"copy {number}.{form.lower()}"
        original.resize(size, Pillow.Resampling.LANCZOS).save(path, form, **options)
        files.append(ImageFile(path))
    return files


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_is_found_and_nothing_else(change: str, tmp_path: Path) -> None:
    found = find_duplicates([*TILES, *copied(TILES, tmp_path, **CHANGES[change])])
    n = len(TILES)
    assert [positions.tolist() for positions in found.sets] == [[number, n + number] for number in range(n)]
    assert found.n_copies == n


def test_the_tiles_of_the_sample_set_are_different_pictures() -> None:
    assert find_duplicates(sample_set().images).n_copies == 0


def test_a_renamed_file_is_the_same_picture_though_it_was_never_decoded(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        picture(TILES[0]).save(tmp_path / name)
    assert find_duplicates([ImageFile(tmp_path / name) for name in ("a.png", "b.png")]).pictures.tolist() == [0, 0]


def test_a_mirror_image_is_another_picture_unless_it_is_asked_for() -> None:
    mirrors = [ImageArray(np.ascontiguousarray(np.asarray(picture(tile))[:, ::-1])) for tile in TILES]
    assert find_duplicates([*TILES, *mirrors]).n_copies == 0
    assert find_duplicates([*TILES, *mirrors], mirrored=True).n_copies == len(TILES)


def test_a_crop_other_proportions_and_an_upside_down_image_are_other_pictures() -> None:
    pixels = np.asarray(picture(TILES[0]))
    wide = np.asarray(picture(TILES[0]).resize((64, 56)))
    others = [pixels[8:56, 8:56], wide, pixels[::-1], np.transpose(pixels, (1, 0, 2))]
    found = find_duplicates([TILES[0], *(ImageArray(np.ascontiguousarray(other)) for other in others)])
    assert found.n_copies == 0


def test_a_turned_photograph_is_the_picture_that_it_is_shown_as(tmp_path: Path) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    original = picture(TILES[3])
    original.transpose(Pillow.Transpose.ROTATE_90).save(tmp_path / "turned.jpg", exif=exif, quality=90)
    assert find_duplicates([TILES[3], ImageFile(tmp_path / "turned.jpg")]).n_copies == 1


def test_what_cannot_be_read_is_like_nothing(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"the same letter")
    broken = [ImageFile(tmp_path / name) for name in ("a.png", "b.png", "none.png")]
    assert find_duplicates([broken[0], TILES[0], *broken[1:], TILES[0]]).pictures.tolist() == [0, 1, 2, 3, 1]


def test_no_image_and_one_image_have_no_duplicates() -> None:
    assert find_duplicates([]).sets == []
    assert find_duplicates([TILES[0]]).pictures.tolist() == [0]


def test_blank_images_of_one_colour_are_one_picture_and_of_another_are_not() -> None:
    blank = [ImageArray(np.full((20, 20, 3), value, np.uint8)) for value in (200, 201, 100)]
    assert find_duplicates(blank).pictures.tolist() == [0, 0, 1]


def test_pictures_are_joined_by_a_chain() -> None:
    rng = np.random.default_rng(0)
    base, drift = rng.random((40, 40, 3)), 0.05 * np.indices((40, 40))[0][:, :, None] / 40
    steps = [ImageArray(np.clip(0.8 * base + step * drift, 0, 1)) for step in range(4)]
    step = 1.2 * max(float(np.linalg.norm(look_of(steps[k + 1]) - look_of(steps[k]))) for k in range(3))
    assert find_duplicates([steps[0], steps[3]], distance=step).n_copies == 0
    assert find_duplicates(steps, distance=step).n_copies == 3


def test_thousands_of_blank_frames_are_one_picture() -> None:
    """As many pairs as there could be; all at once they would take gigabytes."""
    rng = np.random.default_rng(0)
    frames = [ImageArray(rng.integers(198, 202, (8, 8, 3), dtype=np.uint8)) for _ in range(1500)]
    assert find_duplicates(frames).n_copies == 1499


def test_an_image_with_two_labels_is_named() -> None:
    found = Duplicates(np.array([0, 1, 0, 2, 1, 1]))
    assert [each.tolist() for each in found.contradictions(["a", "b", "a", "a", "b", None])] == []
    assert [each.tolist() for each in found.contradictions(["a", "b", "c", "a", "b", None])] == [[0, 2]]


def test_known_looks_give_the_same_pictures_without_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = FeatureCache(tmp_path)
    copy = ImageArray(np.asarray(picture(TILES[0]).resize((48, 48))))
    images = [TILES[0], TILES[1], copy, TILES[1], TILES[2]]
    expected = find_duplicates(images, cache=cache).pictures.tolist()
    hashes = [image.content_hash for image in images]
    monkeypatch.setattr("fewsight.images.looks.look_of", lambda image: pytest.fail("looked at again"))
    known = KnownLooks(cache)
    assert known.same_pictures(hashes).pictures.tolist() == expected == [0, 1, 0, 1, 2]
    cache.clear()
    assert known.same_pictures(hashes[::-1]).pictures.tolist() == [0, 1, 2, 1, 2]  # remembered


def test_an_image_nobody_looked_at_is_like_those_with_its_hash_only(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path)
    find_duplicates(TILES[:1], cache=cache)
    unseen, seen = TILES[1].content_hash, TILES[0].content_hash
    assert KnownLooks(cache).same_pictures([unseen, seen, unseen, seen]).pictures.tolist() == [0, 1, 0, 1]
    assert KnownLooks(cache).same_pictures([]).pictures.tolist() == []
    with pytest.raises(InvalidInput, match="distance must be a number from 0 to 1, got 2"):
        KnownLooks(cache).same_pictures([seen], distance=2.0)


@pytest.mark.slow
def test_pictures_of_caltech101_are_told_apart(caltech101: Path) -> None:
    """The mirror images among the leopards are pictures of their own; few others are the same."""
    leopards = [ImageFile(path) for path in sorted((caltech101 / "Leopards").glob("*.jpg"))]
    assert find_duplicates(leopards).n_copies == 0
    assert find_duplicates(leopards, mirrored=True).n_copies == 100
    chairs = [
        ImageFile(path) for name in ("chair", "dalmatian", "sunflower") for path in (caltech101 / name).glob("*.jpg")
    ]
    assert find_duplicates(chairs).n_copies == 0
