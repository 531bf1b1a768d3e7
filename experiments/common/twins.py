"""Images that show nearly the same thing, found by tiny grey copies: sets of them must not be torn between pool and test.

The rear cars of Caltech-4 are frames of films, but their file names do not follow the films: of the pairs whose dense pyramid
match is above 0.7, one in 190 are neighbours by name, and blocks of 20 names tear half of them. Sets of twins tear none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from fewsight._base.types import Array, Indices
from fewsight.images.image import Image

SIZE = (16, 24)  # height and width of the copies
ALIKE = 0.9  # correlation from which two copies show the same


def twin_sets(images: Sequence[Image], positions: Indices) -> list[Indices]:
    """The positions in sets: whoever is alike, directly or through others, is in one set."""
    copies = np.stack([_tiny(images[i]) for i in positions])
    _, sets = connected_components(copies @ copies.T >= ALIKE, directed=False)
    return [positions[sets == number] for number in range(sets.max() + 1)]


def _tiny(image: Image) -> Array:
    """Grey values of a small copy, as a vector of mean 0 and length 1; one without contrast is like no other."""
    grey = image.pixels(max(SIZE)).mean(axis=2, dtype=np.float64)
    rows, columns = (np.arange(n) * length // n for n, length in zip(SIZE, grey.shape, strict=True))
    values = grey[np.ix_(rows, columns)].ravel()
    values -= values.mean()
    length = np.linalg.norm(values)
    return values / length if length > 0 else values
