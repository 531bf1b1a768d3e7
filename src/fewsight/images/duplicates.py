"""Which images are the same picture: the same bytes, or the same look after another encoding, quality or size.

Two images are one picture if they have the same proportions and their looks (`looks.py`) are at most SAME_LOOK apart; unrelated
images are about 1.4 apart. A mirror image is another picture unless it is asked for, and so is a crop. How this was chosen:
docs/duplicates.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_number
from fewsight._base.errors import UnreadableImage
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array, Indices
from fewsight.images.cache import FeatureCache
from fewsight.images.image import Image
from fewsight.images.looks import COLOUR_SIDE, GREY_SIDE, LOOK_COLUMNS, LookVector, kept_look, stored_look

SAME_LOOK = 0.1  # the distance up to which two looks are one picture
SAME_PROPORTIONS = 0.05  # of the logarithm of width over height: a small copy is rounded to whole pixels
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


def find_duplicates(
    images: Sequence[Image],
    *,
    distance: float = SAME_LOOK,
    mirrored: bool = False,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
) -> Duplicates:
    """Which of the images are the same picture. Images that cannot be read are like no other.

    Parameters
    ----------
    images : paths, or arrays (height, width) or (height, width, 3).
    distance : how far apart the looks of two files of one picture may be.
    mirrored : whether mirror images are the same picture as well.
    cache : keeps what was computed for an image.
    n_jobs : images processed at the same time, as in joblib.
    """
    read = map_pieces(partial(_read, cache=cache), list(images), n_jobs=n_jobs, what="looking for duplicates")
    hashes, looks = ([None if found is None else found[part] for found in read] for part in (0, 1))
    return _by_hash_and_look(hashes, looks, distance, mirrored)  # type: ignore[arg-type]


def opens(image: Image, cache: FeatureCache | None = None) -> bool:
    """Whether an image can be read; its look is kept in the cache."""
    return _read(image, cache) is not None


@final
class KnownLooks:
    """Which images are the same picture, by the looks that a cache keeps of them: no file is read.

    What was found once is remembered, so that asking again costs little when a few images were added.
    """

    def __init__(self, cache: FeatureCache) -> None:
        self._cache = cache
        self._looks: dict[str, LookVector] = {}

    def same_pictures(
        self, hashes: Sequence[str], *, distance: float = SAME_LOOK, mirrored: bool = False
    ) -> Duplicates:
        """As `find_duplicates`, of images known by the hashes of their contents.

        One that nobody has looked at yet is the same picture as those with the same hash only.
        """
        for content_hash in set(hashes) - self._looks.keys():
            look = stored_look(content_hash, self._cache)
            if look is not None:
                self._looks[content_hash] = look
        return _by_hash_and_look(hashes, [self._looks.get(each) for each in hashes], distance, mirrored)


def _by_hash_and_look(
    hashes: Sequence[str | None], looks: Sequence[LookVector | None], distance: float, mirrored: bool
) -> Duplicates:
    """Images without a hash are like no other, those without a look only like those with the same hash."""
    check_number("find_duplicates", "distance", distance, least=0.0, most=1.0)
    names = [f"image {number}" if known is None else known for number, known in enumerate(hashes)]
    _, first, same_bytes = np.unique(names, return_index=True, return_inverse=True)
    seen = [number for number, position in enumerate(first) if looks[position] is not None]
    known_looks = np.array([looks[position] for position in first[seen]]).reshape(-1, LOOK_COLUMNS + 1)
    groups = len(first) + np.arange(len(first))  # each its own
    groups[seen] = _joined(known_looks, distance, mirrored)
    return Duplicates(_numbered(groups[same_bytes.ravel()]))


def _read(image: Image, cache: FeatureCache | None) -> tuple[str, LookVector] | None:
    """The hash of the content and the look; None if the image cannot be read."""
    try:
        return image.content_hash, kept_look(image, cache)
    except UnreadableImage:
        return None


def _joined(looks: Array, distance: float, mirrored: bool) -> Indices:
    """A number for each look, the same for those that are joined by a chain of close ones."""
    n = len(looks)
    groups: Indices = np.arange(n)
    if n < 2:
        return groups
    from scipy.sparse import csr_array  # here: the labelling page starts without half a second of imports
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    directions = _main_directions(looks[:, :LOOK_COLUMNS])
    tree = KDTree(looks[:, :LOOK_COLUMNS] @ directions)  # distances in there are never longer than in full
    for start in range(0, n, _BLOCK):
        block = looks[start : start + _BLOCK]
        for turned in (block, _mirrored(block)) if mirrored else (block,):
            near = tree.query_ball_point(turned[:, :LOOK_COLUMNS] @ directions, distance)
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
    same_look = np.linalg.norm(differences[:, :LOOK_COLUMNS], axis=1) <= distance
    return same_look & (np.abs(differences[:, LOOK_COLUMNS]) <= SAME_PROPORTIONS)


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
