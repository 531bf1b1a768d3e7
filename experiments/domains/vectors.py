"""The sets of the bench, and one vector of the network `pretrained` for every image, computed once.

Vectors are kept in the work folder as the network gives them; `rows` makes of them what the channel compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.common.command import images_of
from experiments.domains.unseen import UNSEEN_READERS
from fewsight._base.replacement import replacing
from fewsight._base.types import Array, Indices
from fewsight.channels import make_channel
from fewsight.images import FeatureCache, Image, ImageArray, ImageFile, ImageSet, image_set_from_class_folders

Strings = npt.NDArray[np.str_]
MORE = ("neu_steel", "blood_cells", "clothing", "trashnet150")
CALTECH, BRODATZ = "caltech101", "brodatz"
TILES = 3  # on a side of a texture: nine images of each


@dataclass(frozen=True)
class LabelledImages:
    """Images and the category of each."""

    images: list[Image]
    labels: Strings


@dataclass(frozen=True)
class LabelledVectors:
    """One vector for each image, as the network gave it, and the categories (n,)."""

    vectors: npt.NDArray[np.float32]  # (n, d)
    labels: Strings

    def rows(self, positions: Indices) -> Array:
        """Square roots at unit length: what the channel `pretrained` compares."""
        roots = np.sqrt(np.maximum(self.vectors[positions].astype(np.float64), 0.0))
        lengths = np.linalg.norm(roots, axis=1, keepdims=True)
        return np.asarray(roots / np.where(lengths > 0, lengths, 1.0))


def _folders(folder: Path) -> LabelledImages:
    return _labelled(image_set_from_class_folders(folder))


def _labelled(found: ImageSet) -> LabelledImages:
    return LabelledImages(list(found.images), np.array(found.labels, dtype=str))


def _tiles(folder: Path) -> LabelledImages:
    """Each texture cut into 3 x 3 tiles that do not overlap."""
    images: list[Image] = []
    labels = []
    for path in sorted(folder.glob("*.jpg")):
        pixels = ImageFile(path).pixels()
        height, width = (side // TILES for side in pixels.shape[:2])
        for row in range(TILES):
            for column in range(TILES):
                tile = pixels[row * height : (row + 1) * height, column * width : (column + 1) * width]
                images.append(ImageArray(np.ascontiguousarray(tile), f"{path.stem} {row} {column}"))
                labels.append(path.stem)
    return LabelledImages(images, np.array(labels, dtype=str))


READERS: dict[str, Callable[[Path], LabelledImages]] = {
    **{name: lambda data, name=name: _folders(data / "more" / name) for name in MORE},  # type: ignore[misc]
    BRODATZ: lambda data: _tiles(data / BRODATZ),
    CALTECH: lambda data: _labelled(images_of(data)),
    **{name: lambda data, reader=reader: _labelled(reader(data)) for name, reader in UNSEEN_READERS.items()},  # type: ignore[misc]
}


def read_vectors(name: str, data: Path, work: Path) -> LabelledVectors:
    """The vectors of a set, computed where they are not in the work folder yet."""
    path = work / "vectors" / f"{name}.npz"
    if not path.exists():
        found = _computed(READERS[name](data), work)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            np.savez(stream, vectors=found.vectors, labels=found.labels)
    with np.load(path) as kept:
        return LabelledVectors(kept["vectors"], kept["labels"])


def _computed(known: LabelledImages, work: Path) -> LabelledVectors:
    """One image at a time; those that are done are in a cache, should the work be stopped."""
    cache = FeatureCache(work / "cache")
    channel = make_channel("pretrained", compare="linear", roots=False, cache=cache, n_jobs=1)
    rows = channel.fit(known.images[:1]).encode(known.images).matrix.toarray()
    return LabelledVectors(rows.astype(np.float32), known.labels)
