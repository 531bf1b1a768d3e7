"""A set of images with the categories they belong to, as far as these are known."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import Indices
from fewsight.images.files import printable, reason_of
from fewsight.images.image import Image, ImageFile
from fewsight.images.listing import Listing, identity_of, is_folder, is_meant_as_image, list_images, visible_entries

WITHOUT_CATEGORY = UNSURE, UNKNOWN = (
    "_unsure",
    "_unknown",
)  # folders that `fewsight sort` makes beside those of categories
TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".xls", ".xlsx", ".ods")
Labels = npt.NDArray[np.object_]  # of str, or None where the category is not known


@final
class ImageSet:
    """Images and their labels, and what was found on the way.

    `unreadable` holds the files that cannot be used, with reasons; `empty_classes` the category folders without a
    usable image; `loose` the images that lay in no category's folder; `outsiders` those of which a
    person said that they belong to no category.

    Parameters
    ----------
    images : n `Image` objects.
    labels : a category for each (n,), None where it is not known; or None for no labels at all.
    unreadable : files that cannot be used, with reasons.
    empty_classes : category folders without a usable image.
    loose : images that lay in no category's folder.
    outsiders : images of which a person said that they belong to no category.
    """

    def __init__(
        self,
        images: Sequence[Image],
        labels: Iterable[str | None] | None = None,
        *,
        unreadable: Iterable[UnreadableImage] = (),
        empty_classes: Iterable[str] = (),
        loose: Iterable[Image] = (),
        outsiders: Iterable[Image] = (),
    ) -> None:
        self.images = list(images)
        self.labels = _as_labels(labels, len(self.images))
        self.unreadable = list(unreadable)
        self.empty_classes = list(empty_classes)
        self.loose = list(loose)
        self.outsiders = list(outsiders)

    @property
    def classes(self) -> list[str]:
        """The categories that occur, sorted."""
        return sorted({label for label in self.labels if label is not None})

    def select(self, indices: Indices | Sequence[int] | npt.NDArray[np.bool_]) -> ImageSet:
        """The images at these positions (or where a mask is true), in this order, without the reports on the whole.

        Parameters
        ----------
        indices : positions (k,), from 0, or a mask (n,).
        """
        positions = np.arange(len(self))[np.asarray(indices, dtype=None if len(indices) else np.intp)]
        return ImageSet([self.images[position] for position in positions], self.labels[positions])

    def without(self, rejected: Iterable[int | Image | UnreadableImage]) -> ImageSet:
        """The set without images given by position, as objects, or as failures; failures are noted in `unreadable`.

        Parameters
        ----------
        rejected : positions, `Image` objects, or failures.
        """
        rejected = list(rejected)
        failures = [item for item in rejected if isinstance(item, UnreadableImage)]
        names = {failure.name for failure in failures}
        objects = {id(item) for item in rejected if isinstance(item, Image)}
        positions = {int(item) for item in rejected if isinstance(item, (int, np.integer))}
        kept = [
            position
            for position, image in enumerate(self.images)
            if not (position in positions or id(image) in objects or (names and image.name in names))
        ]
        part = self.select(kept)
        part.unreadable = self.unreadable + failures
        part.empty_classes = sorted({*self.empty_classes, *self.classes} - set(part.classes))
        part.loose = list(self.loose)
        return part

    def __len__(self) -> int:
        return len(self.images)

    def __iter__(self) -> Iterator[Image]:
        return iter(self.images)

    def __repr__(self) -> str:
        return f"<ImageSet: {len(self)} images, {len(self.classes)} categories, {len(self.unreadable)} unreadable>"


def image_set_from_class_folders(folder: str | os.PathLike[str], exclude: Iterable[str] = ()) -> ImageSet:
    """The images of a folder that holds one folder for each category, sorted by category and file name.

    Images in sub-folders of a category's folder belong to the category. `exclude` names categories to leave out. The folders
    `_unsure` and `_unknown`, where `fewsight sort` puts what has no category, are no categories: their images are `loose`.

    Parameters
    ----------
    folder : a folder with one folder of images for each category.
    exclude : names of categories to leave out.
    """
    root = os.fspath(folder)
    check_folder(root)
    class_folders, loose_paths, root_identity = _top_level(root)
    _leave_out(class_folders, [exclude] if isinstance(exclude, str) else list(exclude), root)
    for name in WITHOUT_CATEGORY:
        if name in class_folders:
            loose_paths += list_images(class_folders.pop(name), {root_identity}).paths
    images: list[Image] = []
    labels: list[str] = []
    unreadable: list[UnreadableImage] = []
    empty: list[str] = []
    for label, path in sorted(class_folders.items()):
        found = list_images(path, {root_identity})
        images.extend(map(ImageFile, found.paths))
        labels.extend([label] * len(found.paths))
        unreadable.extend(found.unreadable)
        if not found.paths:
            empty.append(label)
    if not images:
        raise InvalidInput(_what_a_folder_must_hold(root, len(loose_paths), unreadable))
    loose = [ImageFile(path) for path in sorted(loose_paths)]
    return ImageSet(images, labels, unreadable=unreadable, empty_classes=empty, loose=loose)


def images_in(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> ImageSet:
    """The images among files and in folders (and their sub-folders), unlabelled: as given, by name inside each folder.

    A file that is named is meant as an image whatever its name; a path that comes up twice counts once.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: dict[str, str] = {}
    unreadable: dict[str, UnreadableImage] = {}
    for path in given:
        listing = _listing_of(os.fspath(path))
        for each in listing.paths:
            found.setdefault(os.path.abspath(each), each)
        for failure in listing.unreadable:
            unreadable.setdefault(os.path.abspath(failure.name), failure)
    if not found and not unreadable:
        names = ", ".join(printable(path) for path in given[:3]) or "nothing"
        raise InvalidInput(f"images: at least one image file, or a folder with images, must be given, got {names}.")
    return ImageSet([ImageFile(path) for path in found.values()], unreadable=unreadable.values())


def _as_labels(labels: Iterable[str | None] | None, size: int) -> Labels:
    values: list[Any] = [None] * size if labels is None else list(labels)
    if len(values) != size:
        raise InvalidInput(f"ImageSet: labels must be as many as the images, {size}, got {len(values)}.")
    for value in values:
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"ImageSet: a label must be a text, or None if unknown, got {shown(value)}.")
    array = np.empty(size, dtype=object)
    array[:] = [None if value is None else str(value) for value in values]
    return array


def check_folder(folder: str | os.PathLike[str]) -> None:
    """A file where a folder of images is due is called what it is, with what to do instead."""
    path = os.fspath(folder)
    try:
        if not os.path.isfile(path):
            return  # what else is wrong with it is said by who opens it
    except ValueError:  # a null character inside the path
        return
    name = printable(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".fewsight":
        hint = "a model file; `fewsight predict` asks it about images"
    elif ending in TABLE_ENDINGS:
        hint = f"a table; if it says which image is what, name the folder of the images, and --labels {name}"
    elif is_meant_as_image(path):
        hint = "an image; name the folder that its category's folder lies in"
    else:
        hint = "a file"
    raise InvalidInput(f"{name}: a folder of images is needed, got {hint}.")


def _top_level(root: str) -> tuple[dict[str, str], list[str], tuple[int, int]]:
    """Category folders by label, images beside them, and the identity of the folder itself."""
    try:
        identity = identity_of(root)
        entries = list(visible_entries(root))
    except (OSError, ValueError) as error:
        reason = reason_of(error, root) if isinstance(error, OSError) else "no such file"
        raise InvalidInput(
            f"{printable(root)}: must be a folder of images that can be opened, got: {reason}."
        ) from None
    folders = {printable(entry.name): entry.path for entry in entries if is_folder(entry)}
    loose = [entry.path for entry in entries if not is_folder(entry) and is_meant_as_image(entry.path)]
    return folders, loose, identity


def _leave_out(class_folders: dict[str, str], exclude: list[str], root: str) -> None:
    for name in exclude:
        if class_folders.pop(name, None) is None:
            near = difflib.get_close_matches(name.lower(), [label.lower() for label in class_folders], n=3, cutoff=0.5)
            likely = [label for label in sorted(class_folders) if label.lower() in near]
            hint = f"; did you mean {' or '.join(likely)}?" if likely else "."
            raise InvalidInput(
                f"{printable(root)}: exclude must name categories that are there, got {shown(name)}{hint}"
            )


def _what_a_folder_must_hold(root: str, loose: int, unreadable: list[UnreadableImage]) -> str:
    name = printable(root)
    example = f"(such as {os.path.join(name, 'cat', '1.jpg')} and {os.path.join(name, 'dog', '2.jpg')})"
    images = "1 image that lies" if loose == 1 else f"{loose} images that lie"
    got = f"{images} in no category's folder (`fewsight label` asks what they show)" if loose else "no images"
    if unreadable:
        got += f" and {len(unreadable)} files that cannot be read ({unreadable[0]})"
    return f"{name}: the folder must hold one folder of images for each category {example}, got {got}."


def _listing_of(path: str) -> Listing:
    try:
        if os.path.isdir(path):
            return list_images(path)
    except ValueError:  # a null character inside the path
        pass
    listing = Listing()
    listing.add_file(path)
    return listing
