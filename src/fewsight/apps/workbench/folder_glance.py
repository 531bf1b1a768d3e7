"""A first look at a folder, before anything is read: are there images, and do folders stand for categories?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fewsight.apps.workbench.project.location import check_folder
from fewsight.images.image_set import WITHOUT_CATEGORY
from fewsight.images.listing import IMAGE_ENDINGS

MOST_ENTRIES = 50_000  # looked at; a folder with more that shows no image so far is left to the scan


@dataclass(frozen=True)
class Glance:
    """What a folder looks like. `class_folders` are its folders that hold images, if no image lies beside them."""

    empty: bool
    class_folders: tuple[str, ...]


def glance(folder: str | os.PathLike[str]) -> Glance:
    """Look at names only, and only as long as needed."""
    root = check_folder(folder)
    beside = any(_is_image(name) for name in _names(root, files=True))
    inside = () if beside else tuple(name for name in sorted(_names(root, files=False)) if _holds_image(root / name))
    empty = not beside and not inside and not _deeper(root)
    named = tuple(name for name in inside if name not in WITHOUT_CATEGORY)
    return Glance(empty, named if len(named) > 1 else ())


def _names(folder: Path, files: bool) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.is_dir() != files:
                    yield entry.name
    except OSError:
        return


def _is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in IMAGE_ENDINGS


def _holds_image(folder: Path) -> bool:
    return any(_is_image(name) for name in _names(folder, files=True))


def _deeper(root: Path) -> bool:
    """Whether there is an image further down, or more than can be looked at."""
    n_seen = 0
    for _, _, names in os.walk(root):
        n_seen += len(names) + 1
        if n_seen > MOST_ENTRIES or any(_is_image(name) for name in names):
            return True
    return False
