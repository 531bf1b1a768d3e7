"""Which images are the same picture: the same bytes, or the same look after another encoding, quality or size.

A look is a vector: the grey values at 12 x 12 pixels and two colours at 4 x 4, each less its mean and divided by the contrast of
the grey values, and the means. Two images are one picture if they have the same proportions and their looks are at most
SAME_LOOK apart; unrelated images are about 1.4 apart. A mirror image is another picture unless it is asked for, and so is a
crop. How this was chosen: docs/duplicates.md.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from fewsight._base.checks import check_number
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array, Indices, State
from fewsight.images.cache import FeatureCache
from fewsight.images.image import Image, ImageFile

SAME_LOOK = 0.1  # the distance up to which two looks are one picture
SAME_PROPORTIONS = 0.05  # of the logarithm of width over height: a small copy is rounded to whole pixels
GREY_SIDE, COLOUR_SIDE = 12, 4  # pixels
LEAST_CONTRAST = 0.06  # standard deviation of grey values in [0, 1]; what varies less is not made more of
COLOUR_WEIGHT, MEAN_WEIGHT = 0.5, 2.0
WORKING_SIDE = 96  # pixels of the longest side, at which an image is read
RECIPE = {"kind": "look", "version": 1}
_COLUMNS = GREY_SIDE**2 + 2 * COLOUR_SIDE**2 + 3
_GREY = np.array([0.299, 0.587, 0.114], np.float32)
_COARSE = 12  # directions of most variance in which the search begins
_ROWS_LOOKED_AT = 2_000  # to find them
_BLOCK = 256  # images that are compared with all others at a time


@dataclass(frozen=True)
class Duplicates:
    """`pictures` (n,) numbers the picture that each image shows; images of one picture have the same number."""

    pictures: Indices

    @property
    def sets(self) -> list[Indices]:
        """The positions of the images of each picture that is there more than once, in the order of the images."""
        numbers, counts = np.unique(self.pictures, return_counts=True)
        found = [np.flatnonzero(self.pictures == number) for number in numbers[counts > 1]]
        return sorted(found, key=lambda positions: int(positions[0]))

    @property
    def n_copies(self) -> int:
        """How many images show a picture that another image shows already."""
        return len(self.pictures) - len(np.unique(self.pictures))

    def contradictions(self, labels: Sequence[str | None] | npt.NDArray[np.object_]) -> list[Indices]:
        """The sets of images of one picture whose labels differ, as far as they have one."""
        return [
            positions
            for positions in self.sets
            if len({labels[position] for position in positions if labels[position] is not None}) > 1
        ]


def largest_of_each(images: Sequence[Image], groups: Sequence[tuple[int, str | None]]) -> Indices:
    """The position of one image of each group, the one with most bytes: of copies, that is as a rule what they were made from."""
    best: dict[tuple[int, str | None], int] = {}
    sizes = [_n_bytes(image) for image in images]
    for position, group in enumerate(groups):
        if group not in best or sizes[position] > sizes[best[group]]:
            best[group] = position
    return np.array(sorted(best.values()), dtype=np.intp)


def _n_bytes(image: Image) -> int:
    try:
        return os.stat(image.path).st_size if isinstance(image, ImageFile) else 0
    except (OSError, ValueError):
        return 0


def find_duplicates(
    images: Sequence[Image],
    *,
    distance: float = SAME_LOOK,
    mirrored: bool = False,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
) -> Duplicates:
    """Which of the images are the same picture. Images that cannot be read are like no other.

    `mirrored` takes mirror images for the same picture as well. What was computed for an image is kept in the cache.
    """
    check_number("find_duplicates", "distance", distance, least=0.0, most=1.0)
    read = map_pieces(partial(_read, cache=cache), list(images), n_jobs=n_jobs, what="looking for duplicates")
    readable = [number for number, found in enumerate(read) if found is not None]
    hashes = [found[0] for found in read if found is not None]
    looks = np.array([found[1] for found in read if found is not None]).reshape(-1, _COLUMNS + 1)
    _, first, same_bytes = np.unique(hashes, return_index=True, return_inverse=True)
    groups = _joined(looks[first], distance, mirrored)[same_bytes.ravel()]
    pictures = len(images) + np.arange(len(images))  # each its own
    pictures[readable] = groups
    return Duplicates(_numbered(pictures))


def look_of(image: Image) -> npt.NDArray[np.float32]:
    """The look of an image, and behind it the logarithm of its proportions. Raises UnreadableImage."""
    pixels = image.pixels(WORKING_SIDE)
    grey = pixels @ _GREY
    small = _resized(grey, GREY_SIDE)
    colours = [_resized(pixels[:, :, band] - grey, COLOUR_SIDE) for band in (0, 2)]
    contrast = max(float(small.std()), LEAST_CONTRAST)
    parts = [(small - small.mean()) / (contrast * GREY_SIDE)]
    parts += [COLOUR_WEIGHT * (colour - colour.mean()) / (contrast * COLOUR_SIDE * np.sqrt(2)) for colour in colours]
    means = MEAN_WEIGHT * np.array([each.mean() for each in (small, *colours)])
    proportions = np.log(pixels.shape[1] / pixels.shape[0])
    return np.concatenate([*(part.ravel() for part in parts), means, [proportions]]).astype(np.float32)


def _read(image: Image, cache: FeatureCache | None) -> tuple[str, npt.NDArray[np.float32]] | None:
    """The hash of the content and the look; None if the image cannot be read."""
    try:
        return image.content_hash, _kept_look(image, cache)
    except UnreadableImage:
        return None


def _kept_look(image: Image, cache: FeatureCache | None) -> npt.NDArray[np.float32]:
    if cache is None:
        return look_of(image)
    key = FeatureCache.key_of("look", image.content_hash, RECIPE)
    stored = cache.get(key)
    with contextlib.suppress(InvalidInput):
        if stored is not None:
            return stored.array("look", (_COLUMNS + 1,), np.float32, least=-100.0, most=100.0)
    look = look_of(image)
    cache.put(key, State({}, {"look": look}))
    return look


def _resized(values: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """A triangle filter: where a pixel ends must not matter, for it ends elsewhere in a copy of another size."""
    return np.asarray(Pillow.fromarray(np.ascontiguousarray(values)).resize((side, side), Pillow.Resampling.BILINEAR))


def _joined(looks: Array, distance: float, mirrored: bool) -> Indices:
    """A number for each look, the same for those that are joined by a chain of close ones."""
    n = len(looks)
    groups: Indices = np.arange(n)
    if n < 2:
        return groups
    directions = _main_directions(looks[:, :_COLUMNS])
    tree = KDTree(looks[:, :_COLUMNS] @ directions)  # distances in there are never longer than in full
    for start in range(0, n, _BLOCK):
        block = looks[start : start + _BLOCK]
        for turned in (block, _mirrored(block)) if mirrored else (block,):
            near = tree.query_ball_point(turned[:, :_COLUMNS] @ directions, distance)
            rows = np.repeat(np.arange(len(block)), [len(each) for each in near])
            columns = np.concatenate([np.asarray(each, np.intp) for each in near])
            apart = groups[start + rows] != groups[columns]
            rows, columns = rows[apart], columns[apart]
            close = _are_close(turned[rows] - looks[columns], distance)
            edges = (np.ones(int(close.sum()), bool), (groups[start + rows[close]], groups[columns[close]]))
            joined = connected_components(csr_array(edges, shape=(n, n)), directed=False)[1]
            groups = joined.astype(np.intp)[groups]
    return groups


def _are_close(differences: Array, distance: float) -> npt.NDArray[np.bool_]:
    same_look = np.linalg.norm(differences[:, :_COLUMNS], axis=1) <= distance
    return same_look & (np.abs(differences[:, _COLUMNS]) <= SAME_PROPORTIONS)


def _main_directions(looks: Array) -> Array:
    """Orthonormal directions (columns, k) in which the looks differ most."""
    some = looks[:: max(1, len(looks) // _ROWS_LOOKED_AT)]
    return np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:_COARSE].T


def _mirrored(looks: Array) -> Array:
    turned = looks.copy()
    start = 0
    for side in (GREY_SIDE, COLOUR_SIDE, COLOUR_SIDE):
        part = looks[:, start : start + side**2].reshape(len(looks), side, side)
        turned[:, start : start + side**2] = part[:, :, ::-1].reshape(len(looks), -1)
        start += side**2
    return turned


def _numbered(pictures: Indices) -> Indices:
    """The same groups, numbered in the order in which they come."""
    _, first, inverse = np.unique(pictures, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.intp)
