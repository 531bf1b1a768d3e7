"""The embedded sample set: tiles of photographs that come with scikit-image, so that a trial needs no download.

Each category is one photograph, cut along a grid into tiles that share no pixel. So it tests telling materials and
textures apart within a photograph, not categories of objects across photographs. `SOURCES` says where each photograph
comes from and under which terms, as scikit-image states them; nothing is copied into this package.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from fewsight._base.errors import FewsightError
from fewsight._base.replacement import replacing
from fewsight._base.types import Pixels
from fewsight.images.image import Image, ImageArray, ImageFile, thumbnail
from fewsight.images.image_set import ImageSet

TILE_SIDE = 64  # of every tile as delivered, in pixels
MAX_TILES = 50  # of a category: those with the most contrast, as flat ones show nothing
BLACK = 0.1  # grey values below this are a mask, where a photograph has one
MAX_BLACK = 0.02  # the share of a tile that may be mask


@dataclass(frozen=True)
class Source:
    """A category and the photograph it is cut from."""

    category: str
    file: str  # in scikit-image's data folder
    cut: int  # the side of the square that becomes a tile, in pixels of the photograph
    shows: str
    licence: str
    masked: bool = False  # whether black parts are a mask, not the subject


SOURCES = (
    Source("brick", "brick.png", 64, "a brick wall; CC0Textures", "CC0"),
    Source("cat", "chelsea.png", 46, "the face of a cat; Stefan van der Walt", "CC0"),
    Source("coffee", "coffee.png", 56, "a cup on a wooden table; Rachel Michetti", "CC0"),
    Source("coins", "coins.png", 48, "Greek coins from Pompeii; Brooklyn Museum", "no known copyright restrictions"),
    Source("galaxies", "hubble_deep_field.jpg", 64, "Hubble eXtreme Deep Field; NASA", "public domain"),
    Source("grass", "grass.png", 64, "grass; linolafett", "CC0"),
    Source("gravel", "gravel.png", 64, "gravel; CC0Textures", "CC0"),
    Source("handwriting", "text.png", 34, "handwritten formulas on lined paper; Wikipedia", "public domain"),
    Source("launch tower", "rocket.jpg", 52, "a rocket's launch pad at dusk; SpaceX", "public domain"),
    Source("retina", "retina.jpg", 96, "the retina of an eye; Mikael Häggström", "CC0", masked=True),
    Source("tissue", "ihc.png", 64, "stained colonic glands; CMMI", "no known copyright restrictions"),
)


def sample_set() -> ImageSet:
    """The sample images: at least 40 tiles for each category of `SOURCES`, in the order of category and position."""
    folder = _photographs()
    images: list[Image] = []
    labels: list[str] = []
    for source in SOURCES:
        tiles = _tiles(source, folder)
        images.extend(ImageArray(tile, f"{source.category}/{number:03d}") for number, tile in enumerate(tiles))
        labels.extend([source.category] * len(tiles))
    return ImageSet(images, labels)


def write_sample_set(folder: str | os.PathLike[str]) -> Path:
    """Write the sample set as a folder of category folders of PNG files; returns the folder."""
    root = Path(folder)
    for image in sample_set():
        path = root / f"{image.name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            Pillow.fromarray(thumbnail(image, TILE_SIDE)).save(stream, "PNG")
    return root


def grid(height: int, width: int, cut: int) -> list[tuple[int, int]]:
    """The upper left corners (row, column) of the squares of a centred grid that lie inside a photograph."""
    top, left = height % cut // 2, width % cut // 2
    rows, columns = range(top, height - cut + 1, cut), range(left, width - cut + 1, cut)
    return [(row, column) for row in rows for column in columns]


def _photographs() -> Path:
    found = importlib.util.find_spec("skimage")
    folder = Path(found.origin).parent / "data" if found and found.origin else None
    missing = [source.file for source in SOURCES if folder is None or not (folder / source.file).is_file()]
    if folder is None or missing:
        raise FewsightError(
            f"sample_set: the photographs of scikit-image must be installed with it, but it lacks {', '.join(missing)}."
        )
    return folder


def _tiles(source: Source, folder: Path) -> list[npt.NDArray[np.uint8]]:
    """The tiles of one photograph, in the order of their positions."""
    photograph = ImageFile(folder / source.file).pixels()
    squares = [
        photograph[row : row + source.cut, column : column + source.cut]
        for row, column in grid(photograph.shape[0], photograph.shape[1], source.cut)
    ]
    contrast = np.array([_contrast(square, source.masked) for square in squares])
    chosen = np.sort(np.argsort(-contrast, kind="stable")[:MAX_TILES])
    return [_tile(squares[number]) for number in chosen]


def _contrast(square: Pixels, masked: bool) -> float:
    """The standard deviation of the grey values; none where a mask covers part of the square."""
    grey = square.mean(axis=2)
    return 0.0 if masked and (grey < BLACK).mean() > MAX_BLACK else float(grey.std())


def _tile(square: Pixels) -> npt.NDArray[np.uint8]:
    picture = Pillow.fromarray(np.rint(square * 255).astype(np.uint8))
    return np.asarray(picture.resize((TILE_SIDE, TILE_SIDE), Pillow.Resampling.BICUBIC))
