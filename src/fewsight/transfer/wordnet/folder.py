"""The files of a WordNet folder, whether it is unpacked or a zip, as lines of text."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import final

from fewsight._base.errors import InvalidInput

NEEDED = ("data.noun", "index.noun")
MAX_FILE_BYTES = 128 * 2**20  # eight times WordNet's largest file


@final
class Folder:
    """A folder as WordNet calls it `dict`, or a zip with such a folder in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inside = _inside_zip(path) if path.is_file() else ""

    def read(self, name: str) -> bytes | None:
        """The content of one file, None where there is none."""
        try:
            content = self._read_zip(name) if self.path.is_file() else _read(self.path / name)
        except (FileNotFoundError, KeyError):
            return None
        except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            raise InvalidInput(f"WordNet: {name} of {self.path} cannot be read ({error}).") from None
        if len(content) > MAX_FILE_BYTES:
            raise InvalidInput(
                f"WordNet: {name} of {self.path} must be under {MAX_FILE_BYTES:,} bytes, but it is larger."
            )
        return content

    def _read_zip(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive, archive.open(self._inside + name) as member:
            return member.read(MAX_FILE_BYTES + 1)


def is_wordnet(path: Path) -> bool:
    """Whether the files without which nothing works are there; what is in them is not looked at."""
    try:
        if path.is_file():
            _inside_zip(path)
            return True
        return all((path / name).is_file() for name in NEEDED)
    except (OSError, InvalidInput):
        return False


def numbered_lines(content: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, whichever way they end; the licence, which is indented, is left out."""
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if line.strip() and not line.startswith(" "):
            yield number, line.rstrip()


def _read(path: Path) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(MAX_FILE_BYTES + 1)


def _inside_zip(path: Path) -> str:
    """The folder inside a zip where WordNet's files are."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        names = set()
    for name in sorted(names, key=len):
        inside = name.removesuffix(NEEDED[0])
        if name.endswith(NEEDED[0]) and all(inside + needed in names for needed in NEEDED):
            return inside
    raise InvalidInput(f"WordNet: {path} must be a zip with {' and '.join(NEEDED)} in it, but it is not.")
