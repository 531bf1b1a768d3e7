"""Where the project file of a folder lies."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from fewsight._base.errors import InvalidInput
from fewsight.images.files import printable, reason_of
from fewsight.images.hashing import hash_of

FILE_NAME = "fewsight.sqlite"


class Place(NamedTuple):
    """Where the project file of a folder lies, and what a person should know about it."""

    path: Path
    remark: str | None = None


def locate(folder: str | os.PathLike[str], project: str | os.PathLike[str] | None = None) -> Place:
    """In the folder; where the user says; in the user's data folder if the folder cannot be written to."""
    folder = check_folder(folder)
    if project is not None:
        return Place(Path(project))
    inside, elsewhere = folder / FILE_NAME, _in_user_data(folder)
    if inside.exists():
        return Place(inside)
    if not elsewhere.exists() and _can_write(folder):
        return Place(inside)
    return Place(elsewhere, f"{printable(folder)} cannot be written to; the project is kept in {printable(elsewhere)}.")


def find(folder: str | os.PathLike[str]) -> Path | None:
    """The project file of a folder, where one is there already."""
    path = Path(folder)
    try:
        return next((place for place in (path / FILE_NAME, _in_user_data(path)) if place.is_file()), None)
    except (OSError, ValueError):  # a folder that cannot be there
        return None


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """A folder that is there."""
    path = Path(folder)
    try:
        if path.is_dir():
            return path
        path.stat()
    except (OSError, ValueError) as error:
        reason = reason_of(error, path) if isinstance(error, OSError) else "no such file"
        raise InvalidInput(f"{printable(path)}: must be a folder of images, got: {reason}.") from None
    raise InvalidInput(f"{printable(path)}: must be a folder of images, got: a file.")


def _in_user_data(folder: Path) -> Path:
    from platformdirs import user_data_path

    whole = folder.resolve()
    name = f"{whole.name[:40] or 'folder'}-{hash_of(os.fsencode(whole))[:12]}.sqlite"
    return user_data_path("fewsight", appauthor=False) / "projects" / name


def _can_write(folder: Path) -> bool:
    """Tried, not asked: what a system says about permissions is not always so."""
    try:
        with tempfile.TemporaryFile(prefix=".writing-", dir=folder):
            return True
    except OSError:
        return False
