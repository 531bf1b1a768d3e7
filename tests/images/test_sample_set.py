"""The sample set that needs no download."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.images import ImageSet, image_set_from_class_folders, sample_set, write_sample_set
from fewsight.images.sample_set import SOURCES, TILE_SIDE, grid


@pytest.fixture(scope="module")
def sample() -> ImageSet:
    return sample_set()


def test_there_are_at_least_8_categories_of_at_least_40_tiles(sample: ImageSet) -> None:
    counts = Counter(sample.labels)
    assert len(counts) >= 8
    assert min(counts.values()) >= 40
    assert sample.classes == sorted(source.category for source in SOURCES)
    assert not sample.unreadable


def test_tiles_have_telling_names_one_size_and_something_on_them(sample: ImageSet) -> None:
    assert sample.images[0].name == "brick/000"
    assert len({image.name for image in sample}) == len(sample)
    for image in sample:
        pixels = image.pixels()
        assert pixels.shape == (TILE_SIDE, TILE_SIDE, 3)
        assert pixels.mean(axis=2).std() > 0.01


def test_no_two_tiles_are_the_same(sample: ImageSet) -> None:
    assert len({image.content_hash for image in sample}) == len(sample)


def test_the_sample_set_is_the_same_every_time(sample: ImageSet) -> None:
    again = sample_set()
    assert [image.content_hash for image in again] == [image.content_hash for image in sample]
    assert again.labels.tolist() == sample.labels.tolist()


@pytest.mark.parametrize(
    ("height", "width", "cut"), [(512, 512, 64), (300, 451, 46), (10, 9, 10), (7, 7, 7), (5, 9, 2)]
)
def test_the_squares_of_the_grid_share_no_pixel_and_stay_inside(height: int, width: int, cut: int) -> None:
    covered = np.zeros((height, width), int)
    for row, column in grid(height, width, cut):
        assert covered[row : row + cut, column : column + cut].shape == (cut, cut)
        covered[row : row + cut, column : column + cut] += 1
    assert covered.max(initial=0) <= 1
    assert covered.sum() == (height // cut) * (width // cut) * cut * cut


def test_every_source_states_what_it_shows_and_its_licence() -> None:
    for source in SOURCES:
        assert source.shows
        assert source.licence in {"CC0", "public domain", "no known copyright restrictions"}


def test_the_written_folder_is_an_image_set_with_the_same_pixels(sample: ImageSet, tmp_path: Path) -> None:
    folder = write_sample_set(tmp_path / "sample")
    found = image_set_from_class_folders(folder)
    assert found.labels.tolist() == sample.labels.tolist()
    for written, tile in zip(found.images[::50], sample.images[::50], strict=True):
        np.testing.assert_array_equal(written.pixels(), tile.pixels())


def test_missing_photographs_are_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere = importlib.machinery.ModuleSpec("skimage", None, origin=str(tmp_path / "__init__.py"))
    for found in (None, elsewhere):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, found=found: found)
        with pytest.raises(FewsightError, match=r"sample_set: the photographs of scikit-image .* it lacks brick\.png"):
            sample_set()
