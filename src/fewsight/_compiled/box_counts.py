"""How often each visual word stands in each box of each image.

The local features of all images stand one after the other, those of image i from starts[i] to starts[i + 1]: `locations` (p, 2),
`words` (p, k) and how much each word counts, `shares` (p, k). A box is left, top, right, bottom in single precision, as locations
are. What lies on its left or upper edge is inside, on the others only at the end of the image. Sums are made in the order of the
features.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight._compiled._caching import compiled
from fewsight._compiled._row_tiles import Ints

Single = npt.NDArray[np.float32]


def box_counts_reference(
    starts: Ints, locations: Single, words: Ints, shares: Array, boxes: Single, n_words: int
) -> Array:
    """The definition: (n, b, n_words)."""
    found = np.zeros((len(starts) - 1, len(boxes), n_words))
    for i in range(len(found)):
        at = slice(starts[i], starts[i + 1])
        x, y = locations[at].T
        for b, (left, top, right, bottom) in enumerate(boxes):
            here = (x >= left) & ((x < right) | ((right >= 1) & (x <= 1)))
            here &= (y >= top) & ((y < bottom) | ((bottom >= 1) & (y <= 1)))
            found[i, b] = np.bincount(words[at][here].ravel(), shares[at][here].ravel(), minlength=n_words)
    return found


@compiled(nogil=True)
def box_counts(starts: Ints, locations: Single, words: Ints, shares: Array, boxes: Single, n_words: int) -> Array:
    """As `box_counts_reference`."""
    found = np.zeros((starts.size - 1, boxes.shape[0], n_words))
    for i in range(found.shape[0]):
        for b in range(found.shape[1]):
            left, top, right, bottom = boxes[b]
            counts = found[i, b]
            for t in range(starts[i], starts[i + 1]):
                x, y = locations[t, 0], locations[t, 1]
                if x < left or y < top or x > 1 or y > 1 or (x >= right and right < 1) or (y >= bottom and bottom < 1):
                    continue
                for s in range(words.shape[1]):
                    counts[words[t, s]] += shares[t, s]
    return found
