"""Words in boxes are those whose place is inside."""

import numpy as np
import pytest

from fewsight._compiled.box_counts import box_counts, box_counts_reference
from fewsight.encodings import inside

EDGES = np.array([[0, 0, 1, 1], [0.25, 0.5, 0.75, 1], [0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1], [0.9, 0.9, 0.95, 0.95]])


@pytest.mark.parametrize(("sizes", "k"), [((0,), 1), ((1,), 1), ((40, 0, 60), 1), ((30, 25), 4)])
def test_compiled_counts_equal_their_reference(sizes, k):
    rng = np.random.default_rng(0)
    starts = np.cumsum([0, *sizes])
    places = (rng.integers(9, size=(starts[-1], 2)) / 8).astype(np.float32)  # many on an edge
    words, shares = rng.integers(7, size=(starts[-1], k)).astype(np.uint16), rng.random((starts[-1], k))
    arguments = starts, places, words, shares, EDGES.astype(np.float32), 7
    np.testing.assert_array_equal(box_counts(*arguments), box_counts_reference(*arguments))


def test_the_reference_counts_what_is_inside():
    rng = np.random.default_rng(1)
    places = (rng.integers(9, size=(80, 2)) / 8).astype(np.float32)
    words = rng.integers(5, size=(80, 1)).astype(np.uint16)
    found = box_counts_reference(np.array([0, 80]), places, words, np.ones((80, 1)), EDGES.astype(np.float32), 5)
    for box, counts in zip(EDGES, found[0], strict=True):
        here = inside(places, tuple(box.tolist()))
        np.testing.assert_array_equal(counts, np.bincount(words[here].ravel(), minlength=5))
