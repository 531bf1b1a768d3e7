"""A sample that others are compared with at every question."""

import numpy as np

from fewsight.active.pools.kept_sample import MOST_ROWS, KeptSample


class Counting:
    """Products of positions as kernel values, and what was made and compared."""

    def __init__(self):
        self.made, self.compared = [], []
        self.kept = KeptSample(self.make)

    def make(self, sample):
        self.made.append(sample.tolist())

        def compare(rows):
            self.compared += rows.tolist()
            return [np.multiply.outer(rows, sample), -np.multiply.outer(rows, sample)]

        return compare


def test_rows_of_the_same_sample_are_compared_once_and_of_another_anew():
    counting, sample = Counting(), np.array([3, 1])
    for rows in ([5, 6], [6, 7, 5], [7]):
        found = counting.kept.parts(np.array(rows), sample)
        assert found.shape == (2, len(rows), 2)
        np.testing.assert_array_equal(found[0], np.multiply.outer(rows, sample))
        np.testing.assert_array_equal(found[1], -found[0])
    assert (counting.made, counting.compared) == ([[3, 1]], [5, 6, 7])
    counting.kept.parts(np.array([5]), np.array([3, 2]))
    assert (counting.made[1:], counting.compared[3:]) == ([[3, 2]], [5])


def test_what_is_kept_does_not_grow_for_ever():
    counting, sample = Counting(), np.array([1])
    for start in range(0, 5 * MOST_ROWS, 500):
        counting.kept.parts(np.arange(start, start + 500), sample)
        assert len(counting.kept._rows) <= MOST_ROWS + 500
