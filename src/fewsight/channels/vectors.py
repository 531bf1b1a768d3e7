"""Channel `vectors`: numbers that the user brings, a row per image."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

import numpy as np

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import LabelsLike, Recipe
from fewsight.channels.base import as_images
from fewsight.channels.option_fields import option
from fewsight.channels.vector_channel import VectorChannel
from fewsight.images import Image
from fewsight.images.files import stamp_of
from fewsight.images.vectors import VectorTable, read_vectors

MOST_LISTED = 3


@final
class Vectors(VectorChannel):
    """Vectors of your own, one for each image, from a table: NumPy, CSV or Parquet.

    A row belongs to the image whose file it names, or whose content has its hash. Images without a row are reported as
    files that cannot be read are. The images themselves are not looked at.
    """

    name: ClassVar[str] = "vectors"
    places: ClassVar[tuple[str, ...]] = ("table",)

    table: str | os.PathLike[str] | None = option(
        default=None,
        kw_only=False,
        doc="the file (docs/embeddings.md). A model file remembers its path, not the table.",
    )

    def fit(self, images: Sequence[Any], labels: LabelsLike | None = None) -> Self:
        """As every channel; two different images that share a row are an error."""
        self._table().taken(as_images(images))
        return super().fit(images, labels)

    def prepare(self, images: Sequence[Any]) -> list[UnreadableImage]:
        """The images that have no row; two different ones that share a row are an error."""
        self._table().taken(as_images(images))
        return super().prepare(images)

    def remarks(self, images: Sequence[Any]) -> list[str]:
        """How many rows belong to no image, and how many are there more than once."""
        table = self._table()
        found = table.match(as_images(images))
        said = {
            "images without a row in": found.missing,
            "rows without an image in": found.extra,
            "rows more than once, with the same numbers, in": found.repeated,
        }
        return [
            f"vectors: {len(names):,} {what} {table.name}: {_listed(names)}." for what, names in said.items() if names
        ]

    @property
    def _kept(self) -> None:
        """Nothing is kept: a table is quick to read, and images with the same content may have rows of their own."""
        return

    def _vector(self, image: Image) -> np.ndarray:
        table = self._table()
        place = table.place(image)
        if place is None:
            raise UnreadableImage(image.name, f"no row in {table.name}")
        return table.rows[place]

    def _feature_recipe(self) -> Recipe:
        return {"kind": "vectors", "version": 1, "table": self._table().digest}

    def _table(self) -> VectorTable:
        if not isinstance(self.table, (str, os.PathLike)) or not os.fspath(self.table):
            raise InvalidInput(f"Vectors: table must be the path of a table of vectors, got {shown(self.table)}.")
        return _opened(os.fspath(self.table), stamp_of(self.table))


@functools.lru_cache(maxsize=2)
def _opened(path: str, stamp: tuple[int, ...]) -> VectorTable:
    return read_vectors(path)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")
