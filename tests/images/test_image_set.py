"""Folders of category folders, and files and folders to predict on, as people really have them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput
from fewsight.images import ImageArray, ImageSet, UnreadableImage, image_set_from_class_folders, images_in
from fewsight.images import listing as listing_module


def make_image(path: Path, value: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.new("RGB", (4, 4), (value, 0, 0)).save(path, "PNG")
    return path


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    root = tmp_path / "pets"
    for name in ("dog/2.png", "dog/1.jpg", "cat/b.png", "cat/a.png", "cat/more/deep/c.png"):
        make_image(root / name)
    return root


def names(image_set: ImageSet, root: Path) -> list[str]:
    return [os.path.relpath(image.name, root) for image in image_set.images]


def test_categories_are_folder_names_and_everything_is_sorted(pets: Path) -> None:
    found = image_set_from_class_folders(pets)
    assert names(found, pets) == ["cat/a.png", "cat/b.png", "cat/more/deep/c.png", "dog/1.jpg", "dog/2.png"]
    assert found.labels.dtype == object
    assert found.labels.tolist() == ["cat", "cat", "cat", "dog", "dog"]
    assert found.classes == ["cat", "dog"]
    assert len(found) == 5
    assert not found.unreadable
    assert "5 images, 2 categories" in repr(found)


def test_hidden_files_and_everyday_junk_are_passed_over_quietly(pets: Path) -> None:
    for name in (
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "notes.txt",
        "labels.csv",
        "meta.json",
        "._a.png",
        "film.mp4",
    ):
        (pets / "cat" / name).write_bytes(b"junk")
    (pets / ".git").mkdir()
    make_image(pets / ".git" / "x.png")
    make_image(pets / "__MACOSX" / "x.png")
    (pets / "README.md").write_text("about")
    found = image_set_from_class_folders(pets)
    assert len(found) == 5
    assert not found.unreadable
    assert not found.empty_classes
    assert not found.loose


def test_content_makes_a_file_without_a_telling_name_an_image(pets: Path) -> None:
    make_image(pets / "cat" / "IMG_0001")
    make_image(pets / "cat" / "photo.backup")
    (pets / "cat" / "LICENSE").write_text("words")
    assert len(image_set_from_class_folders(pets)) == 7


def test_files_that_cannot_be_read_are_told_while_listing(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pets / "cat" / "zero.jpg").write_bytes(b"")
    os.mkfifo(pets / "cat" / "pipe.jpg")
    os.mkfifo(pets / "cat" / "pipe")
    (pets / "cat" / "gone.jpg").symlink_to(pets / "nowhere.jpg")
    (pets / "cat" / "circle.jpg").symlink_to(pets / "cat" / "circle.jpg")
    make_image(pets / "cat" / "secret.png")
    access = os.access
    monkeypatch.setattr(listing_module.os, "access", lambda path, mode: "secret" not in path and access(path, mode))
    found = image_set_from_class_folders(pets)
    assert len(found) == 5
    assert {os.path.basename(item.name): item.reason for item in found.unreadable} == {
        "zero.jpg": "empty file",
        "pipe.jpg": "a pipe, not a file",
        "gone.jpg": "a link to a file that is missing",
        "circle.jpg": "a link that leads in a circle",
        "secret.png": "permission denied",
    }


def test_a_file_with_an_image_name_that_is_no_image_is_told_when_read(pets: Path) -> None:
    (pets / "cat" / "letter.jpg").write_text("dear cat")
    found = image_set_from_class_folders(pets)
    letter = next(image for image in found if image.name.endswith("letter.jpg"))
    with pytest.raises(UnreadableImage, match="not an image"):
        letter.pixels()


def test_linked_files_and_linked_category_folders_are_followed(pets: Path, tmp_path: Path) -> None:
    elsewhere = make_image(tmp_path / "elsewhere" / "x.png").parent
    (pets / "bird").symlink_to(elsewhere)
    (pets / "dog" / "linked.png").symlink_to(elsewhere / "x.png")
    found = image_set_from_class_folders(pets)
    assert found.classes == ["bird", "cat", "dog"]
    assert "dog/linked.png" in names(found, pets)


def test_links_that_lead_in_a_circle_end_and_add_nothing(pets: Path) -> None:
    (pets / "cat" / "all").symlink_to(pets)
    (pets / "cat" / "again").symlink_to(pets / "cat")
    (pets / "dog" / "loop").symlink_to(pets / "dog" / "loop")
    found = image_set_from_class_folders(pets)
    assert found.labels.tolist() == ["cat", "cat", "cat", "dog", "dog"]


def test_empty_categories_and_loose_images_are_told_without_a_warning(pets: Path) -> None:
    (pets / "fish").mkdir()
    (pets / "worm").mkdir()
    (pets / "worm" / "w.jpg").write_bytes(b"")
    make_image(pets / "overview.png")
    found = image_set_from_class_folders(pets)
    assert found.empty_classes == ["fish", "worm"]
    assert found.classes == ["cat", "dog"]
    assert [os.path.basename(image.name) for image in found.loose] == ["overview.png"]


def test_what_sorting_puts_aside_is_no_category(pets: Path) -> None:
    make_image(pets / "_unsure" / "u.png")
    make_image(pets / "_unknown" / "deep" / "v.png")
    found = image_set_from_class_folders(pets)
    assert found.classes == ["cat", "dog"]
    assert [os.path.relpath(image.name, pets) for image in found.loose] == ["_unknown/deep/v.png", "_unsure/u.png"]
    left = image_set_from_class_folders(pets, exclude=["_unsure", "cat"])  # as one had to say before
    assert left.classes == ["dog"]
    assert [os.path.relpath(image.name, pets) for image in left.loose] == ["_unknown/deep/v.png"]


def test_excluded_categories_are_left_out_and_a_wrong_name_is_answered_with_likely_ones(pets: Path) -> None:
    assert image_set_from_class_folders(pets, exclude=["dog"]).classes == ["cat"]
    assert image_set_from_class_folders(pets, exclude="dog").classes == ["cat"]
    with pytest.raises(
        InvalidInput, match=r"exclude must name categories that are there, got 'Dogs'; did you mean dog\?"
    ):
        image_set_from_class_folders(pets, exclude=["Dogs"])
    with pytest.raises(InvalidInput, match=r"got 'xyzzy'\.$"):
        image_set_from_class_folders(pets, exclude=["xyzzy"])


def test_a_folder_without_images_is_told_what_a_usable_one_looks_like(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"one folder of images for each category .*cat.1\.jpg.* got no images"):
        image_set_from_class_folders(tmp_path)
    make_image(tmp_path / "a.png")
    with pytest.raises(InvalidInput, match="got 1 image that lies in no category's folder"):
        image_set_from_class_folders(tmp_path)
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "zero.jpg").write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"1 files that cannot be read \(.*zero\.jpg: empty file\)"):
        image_set_from_class_folders(tmp_path)
    for wrong in (tmp_path / "missing", "a\0b"):
        with pytest.raises(InvalidInput, match="must be a folder of images that can be opened"):
            image_set_from_class_folders(wrong)


def test_names_that_are_not_utf8_survive_as_categories_and_files(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/\xff\xfe.png", "wb") as stream:
        Pillow.new("L", (3, 3)).save(stream, "PNG")
    found = image_set_from_class_folders(tmp_path)
    assert found.classes == ["caf\\xe9"]
    found.images[0].name.encode()
    assert found.images[0].pixels().shape == (3, 3, 3)
    assert len(image_set_from_class_folders(tmp_path, exclude=()).images) == 1


def test_folders_too_deep_for_recursion_are_listed(tmp_path: Path) -> None:
    root = tmp_path / "cat"
    make_image(root / "x.png")
    deep = str(root)
    for _ in range(1010):  # deeper than Python's recursion limit
        deep += "/a"
        os.mkdir(deep)
    make_image(Path(deep) / "y.png")
    try:
        assert len(image_set_from_class_folders(tmp_path)) == 2
    finally:
        os.unlink(deep + "/y.png")
        os.removedirs(deep)  # what removes test folders afterwards is recursive


def test_select_takes_positions_or_a_mask_in_the_given_order() -> None:
    images = [ImageArray(np.full((2, 2), value, np.uint8), f"{value}") for value in range(4)]
    whole = ImageSet(images, ["a", None, "b", "a"])
    assert [image.name for image in whole.select([3, 0])] == ["3", "0"]
    assert whole.select(np.array([False, True, True, False])).labels.tolist() == [None, "b"]
    assert len(whole.select([])) == 0
    assert whole.classes == ["a", "b"]


def test_without_takes_positions_images_or_failures_and_keeps_the_failures() -> None:
    images = [ImageArray(np.full((2, 2), value, np.uint8), f"{value}") for value in range(5)]
    whole = ImageSet(images, ["a", "a", "b", "c", None], unreadable=[UnreadableImage("x", "empty file")])
    failure = UnreadableImage("3", "truncated")
    part = whole.without([0, images[2], failure])
    assert [image.name for image in part] == ["1", "4"]
    assert part.labels.tolist() == ["a", None]
    assert [item.name for item in part.unreadable] == ["x", "3"]
    assert part.empty_classes == ["b", "c"]
    assert len(whole) == 5


def test_labels_that_are_no_texts_or_too_few_are_refused() -> None:
    image = ImageArray(np.zeros((2, 2), np.uint8))
    with pytest.raises(InvalidInput, match="labels must be as many as the images, 1, got 2"):
        ImageSet([image], ["a", "b"])
    with pytest.raises(InvalidInput, match="a label must be a text, or None if unknown, got 3"):
        ImageSet([image], [3])  # type: ignore[list-item]
    assert ImageSet([image]).labels.tolist() == [None]


def test_images_in_takes_files_and_folders_in_order_and_each_once(pets: Path) -> None:
    found = images_in([pets / "dog" / "2.png", pets / "cat", pets / "cat" / ".." / "dog", pets / "cat" / "a.png"])
    shown = [os.path.normpath(name) for name in names(found, pets)]
    assert shown == ["dog/2.png", "cat/a.png", "cat/b.png", "cat/more/deep/c.png", "dog/1.jpg"]
    assert found.labels.tolist() == [None] * 5
    assert len(images_in(str(pets))) == 5


def test_images_in_reports_what_was_named_and_cannot_be_read(pets: Path) -> None:
    os.mkfifo(pets / "pipe")
    found = images_in([pets / "missing.jpg", pets / "pipe", pets / "dog", pets / "missing.jpg"])
    assert len(found) == 2
    assert [item.reason for item in found.unreadable] == ["no such file", "a pipe, not a file"]
    assert len(images_in([pets / "missing.jpg"])) == 0


def test_images_in_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="images: at least one image file"):
        images_in([tmp_path])
    with pytest.raises(InvalidInput, match="got nothing"):
        images_in([])
