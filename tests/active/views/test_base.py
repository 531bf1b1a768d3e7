"""What rules read of any view."""

import numpy as np

from fewsight.active.views.base import two_largest


def test_the_two_largest_of_each_row_equal_sorting():
    values = np.random.default_rng(0).normal(size=(50, 6))
    largest, second, where = two_largest(values)
    ordered = np.sort(values, axis=1)
    np.testing.assert_array_equal(largest, ordered[:, -1])
    np.testing.assert_array_equal(second, ordered[:, -2])
    np.testing.assert_array_equal(where, values.argmax(axis=1))


def test_a_single_column_has_no_second():
    largest, second, where = two_largest(np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(largest, [1.0, 2.0])
    assert np.isneginf(second).all()
    np.testing.assert_array_equal(where, [0, 0])


def test_of_equal_values_the_first_column_decides():
    assert two_largest(np.array([[0.5, 0.5, 0.1]]))[2].tolist() == [0]
