"""Images of one photograph are found: crops, other sizes and mirror images, and nothing else."""

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight.images import FeatureCache, ImageArray, ImageFile, sample_set
from fewsight.images.photographs import SamePhotographs, shared_photographs


def photograph(seed, height=240, width=320):
    """Blots of all sizes: corners everywhere, and none twice."""
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), 0.5, np.float32)
    for _ in range(400):
        size = int(rng.integers(4, 40))
        row, column = rng.integers(0, height), rng.integers(0, width)
        pixels[row : row + size, column : column + size] = rng.random(3)
    return pixels


ONE, TWO, THREE = (photograph(seed) for seed in (1, 2, 3))


def resized(pixels, width, height):
    image = Pillow.fromarray((255 * pixels).astype(np.uint8)).resize((width, height), Pillow.Resampling.LANCZOS)
    return np.asarray(image, np.float32) / 255


def image(pixels, name="image"):
    return ImageArray(np.ascontiguousarray(pixels), name)


@pytest.mark.parametrize(
    ("copy", "mirrored"),
    [
        (ONE, False),
        (ONE[40:200, 60:260], False),
        (ONE[:, ::-1], True),
        (ONE[30:200, 50:250][:, ::-1], True),
        (resized(ONE, 200, 150), False),
        (resized(ONE[40:200, 60:260], 300, 240), False),
        (np.clip(0.8 * ONE + 0.1, 0, 1), False),
    ],
    ids=["whole", "crop", "mirrored", "mirrored crop", "smaller", "larger crop", "less contrast"],
)
def test_a_photograph_is_found_again(copy, mirrored):
    found = shared_photographs([image(copy)], [image(TWO), image(ONE), image(THREE)])
    assert [(match.one, match.other, match.mirrored) for match in found] == [(0, 1, mirrored)]
    assert found[0].correlation > 0.9


def test_different_photographs_are_not_taken_for_one():
    assert shared_photographs([image(ONE), image(TWO)], [image(THREE), image(photograph(4))]) == []


def test_the_textures_of_the_sample_set_are_different_photographs():
    images = sample_set().images[::12]
    found = shared_photographs(images, images)
    assert all(match.one == match.other for match in found)


def test_blank_and_unreadable_images_are_like_no_other(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no image")
    odd = [image(np.zeros((50, 60, 3), np.float32)), ImageFile(tmp_path / "broken.png"), image(ONE)]
    assert [(match.one, match.other) for match in shared_photographs(odd, odd)] == [(2, 2)]
    assert shared_photographs([], odd) == shared_photographs(odd, []) == []


def test_the_cache_changes_nothing(tmp_path):
    cache = FeatureCache(tmp_path)
    few, many = [image(ONE[40:200, 60:260])], [image(ONE), image(TWO)]
    first, again = (shared_photographs(few, many, cache=cache) for _ in range(2))
    assert first == again == shared_photographs(few, many)
    assert any(tmp_path.rglob("*.*"))


def test_categories_that_show_the_same_photographs_are_known(monkeypatch):
    images = [image(ONE), image(TWO), image(THREE), image(ONE[40:200, 60:260])]
    same = SamePhotographs(images, ["whole", "other", "third", "crops"])
    assert same("crops", "whole")
    assert same("whole", "crops")
    assert not same("crops", "other")
    assert not same("crops", "nobody has this name")
    monkeypatch.setattr("fewsight.images.photographs.shared_photographs", lambda *_, **__: pytest.fail("asked twice"))
    assert same("crops", "whole")
