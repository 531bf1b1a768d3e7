"""The pyramid of histograms: sums over cells, rows that sum to one."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.encodings import HistogramPyramid, SpatialPyramid

RNG = np.random.default_rng(0)
X, Y = np.meshgrid((np.arange(4) + 0.5) / 4, (np.arange(4) + 0.5) / 4)
CENTRES = np.stack([X.ravel(), Y.ravel()], axis=1).astype(np.float32)


def dense(pyramid, histograms):
    columns, values = pyramid.encode(histograms, CENTRES)
    row = np.zeros(pyramid.n_columns(histograms.shape[1]))
    row[columns] = values
    return row


def test_each_level_sums_the_cells_below_it():
    pyramid, histograms = HistogramPyramid(3), RNG.random((16, 5))
    row = dense(pyramid, histograms)
    shares = histograms.reshape(4, 4, 5) / histograms.sum()
    weights = SpatialPyramid(3).level_weights
    np.testing.assert_allclose(row[:5], weights[0] * shares.sum(axis=(0, 1)))
    quarters = shares.reshape(2, 2, 2, 2, 5).sum(axis=(1, 3))
    np.testing.assert_allclose(row[5:25], weights[1] * quarters.ravel())
    np.testing.assert_allclose(row[25:105], weights[2] * shares.ravel())
    assert row[105] == 0


def test_counting_words_and_summing_their_histograms_is_the_same():
    """Histograms with a single entry are words."""
    words = RNG.integers(0, 5, 16)
    columns, values = SpatialPyramid(3).encode(words, CENTRES, 5)
    row = dense(HistogramPyramid(3), np.eye(5)[words])
    np.testing.assert_array_equal(np.flatnonzero(row), columns)
    np.testing.assert_allclose(row[columns], values)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_rows_sum_to_one_whatever_the_histograms_sum_to(n_levels):
    for scale in (1e-6, 1.0, 1e6):
        columns, values = HistogramPyramid(n_levels).encode(scale * RNG.random((16, 3)), CENTRES)
        assert values.sum() == pytest.approx(1)
        assert (np.diff(columns) > 0).all()


def test_an_image_without_any_entry_has_a_column_of_its_own():
    pyramid = HistogramPyramid(3)
    columns, values = pyramid.encode(np.zeros((16, 5), np.float32), CENTRES)
    assert (columns.tolist(), values.tolist()) == ([pyramid.n_columns(5) - 1], [1.0])


def test_the_level_enters_the_recipe_and_is_checked():
    assert HistogramPyramid(2).recipe() != HistogramPyramid(3).recipe()
    with pytest.raises(InvalidInput, match="n_levels must be a whole number from 1 to 8, got 0"):
        HistogramPyramid(0)
