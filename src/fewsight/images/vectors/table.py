"""A table of vectors, and which of its rows belongs to which image: by the hash of the content or by the file's name."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.images.hashing import hash_of
from fewsight.images.image import Image, ImageFile

Matrix = npt.NDArray[np.float32]


@final
@dataclass(frozen=True)
class Match:
    """How a table and some images fit together."""

    missing: list[str]  # images without a row
    extra: list[str]  # rows without an image
    repeated: list[str]  # rows that are there more than once, with the same numbers


@final
class VectorTable:
    """Rows of finite numbers with the name or the hash of an image each.

    A name may be given with more or fewer folders than the image's path has: the longest ending that both share decides, after
    the folder that all rows have in common is taken away.
    """

    def __init__(self, name: str, keys: Sequence[str], rows: Matrix, *, by_hash: bool) -> None:
        self.name, self.rows, self.by_hash = name, rows, by_hash
        self.keys = [key.strip().lower() for key in keys] if by_hash else [_normalised(key) for key in keys]
        self._check()
        self.repeated: list[str] = []
        self._places = self._index()
        self.digest = hash_of("\n".join(self.keys).encode("utf-8", "surrogateescape"), np.ascontiguousarray(rows).data)

    @property
    def n_columns(self) -> int:
        return int(self.rows.shape[1])

    def place(self, image: Image) -> int | None:
        """The number of the image's row, if it has one."""
        if self.by_hash:
            return self._places.get(image.content_hash)
        return next((self._places[ending] for ending in _endings(_path_of(image)) if ending in self._places), None)

    def match(self, images: Sequence[Image]) -> Match:
        """Which images have no row, which rows no image; see `taken`."""
        taken = self.taken(images)
        missing = [image.name for image in images if self.place(image) is None]
        extra = [self.keys[place] for place in sorted(set(self._places.values()) - set(taken))]
        return Match(missing, extra, self.repeated)

    def taken(self, images: Sequence[Image]) -> dict[int, Image]:
        """The rows of these images. Two different images with one row are an error."""
        taken: dict[int, Image] = {}
        for image in images:
            place = self.place(image)
            if place is not None and _differ(taken.setdefault(place, image), image):
                raise InvalidInput(
                    f"{self.name}: every image must have a row of its own, got {shown(self.keys[place])} for both "
                    f"{taken[place].name} and {image.name}; name them with their folders."
                )
        return taken

    def _check(self) -> None:
        for number, key in enumerate(self.keys, start=1):
            if not key:
                raise InvalidInput(f"{self.name}: every row must name an image, got none in row {number}.")
        finite = np.isfinite(self.rows).all(axis=1)
        if not finite.all():
            first = int(np.argmin(finite))
            raise InvalidInput(
                f"{self.name}: vectors must hold finite numbers only, got NaN or infinity in {int((~finite).sum()):,} "
                f"{'row' if (~finite).sum() == 1 else 'rows'}, the first for {shown(self.keys[first])}."
            )

    def _index(self) -> dict[str, int]:
        places: dict[str, int] = {}
        for number, key in enumerate(self.keys):
            first = places.setdefault(key, number)
            if first == number:
                continue
            if not np.array_equal(self.rows[first], self.rows[number]):
                raise InvalidInput(
                    f"{self.name}: an image must have one vector, got two different ones for {shown(key)}, in rows "
                    f"{first + 1} and {number + 1}."
                )
            self.repeated.append(key)
        return places if self.by_hash else {**_without_common_folder(places), **places}


def _without_common_folder(places: dict[str, int]) -> dict[str, int]:
    """Names below the folder that all rows are in: it may have been on another machine."""
    paths = {key: PurePosixPath(key).parts for key in places}
    folders = [parts[:-1] for parts in paths.values()]
    least, most = min(folders), max(folders)  # what these two share, all share
    depth = next((d for d, pair in enumerate(zip(least, most, strict=False)) if pair[0] != pair[1]), len(least))
    return {"/".join(parts[depth:]): places[key] for key, parts in paths.items()} if depth else {}


def _endings(path: str) -> list[str]:
    """The path, then without its first folder, and so on to the bare name."""
    parts = PurePosixPath(path).parts
    return [path, *("/".join(parts[start:]) for start in range(1, len(parts)))]


def _path_of(image: Image) -> str:
    return _normalised(os.path.abspath(image.path) if isinstance(image, ImageFile) else image.name)


def _normalised(name: str) -> str:
    """One spelling for each name: composed characters, forward slashes, no `./`."""
    text = unicodedata.normalize("NFC", name.strip().replace("\\", "/") if "/" not in name else name.strip())
    return str(PurePosixPath(text)) if text else ""


def _differ(first: Image, second: Image) -> bool:
    return first is not second and first.content_hash != second.content_hash
