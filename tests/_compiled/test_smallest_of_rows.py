"""The few smallest numbers of each row: the compiled loop against its definition."""

import numpy as np
import pytest

from fewsight._compiled.smallest_of_rows import smallest_of_rows, smallest_of_rows_reference


@pytest.mark.parametrize(
    ("n", "width", "count"), [(0, 3, 2), (1, 1, 1), (4, 5, 5), (300, 40, 1), (50, 700, 6)]
)  # all of a row, and few of many
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_smallest_equal_their_reference_and_of_equal_ones_the_first_counts(n, width, count, dtype):
    A = np.random.default_rng(0).integers(-20, 20, (n, width)).astype(dtype)
    for found, expected in zip(smallest_of_rows(A, count), smallest_of_rows_reference(A, count), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
