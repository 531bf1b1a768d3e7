"""The spatial pyramid equals its definition, bin by bin."""

import numpy as np
import pytest

from fewsight.encodings import SpatialPyramid

RNG = np.random.default_rng(0)


def by_hand(words, locations, n_words, n_levels):
    """One histogram for each cell, with Lazebnik's weights, written as loops."""
    finest, parts = n_levels - 1, []
    for level in range(n_levels):
        side = 2**level
        weight = 1 / 2**finest if level == 0 else 1 / 2 ** (finest - level + 1)
        for row in range(side):
            for column in range(side):
                histogram = np.zeros(n_words)
                for word, (x, y) in zip(words, locations, strict=True):
                    if min(int(x * side), side - 1) == column and min(int(y * side), side - 1) == row:
                        histogram[word] += weight / len(words)
                parts.append(histogram)
    return np.concatenate(parts)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_the_row_equals_the_definition(n_levels):
    words = RNG.integers(0, 5, 40)
    locations = RNG.random((40, 2), dtype=np.float32)
    locations[0] = 1.0, 0.0  # on the border
    pyramid = SpatialPyramid(n_levels)
    columns, values = pyramid.encode(words, locations, 5)
    row = np.zeros(pyramid.n_cells * 5)
    row[columns] = values
    np.testing.assert_allclose(row, by_hand(words, locations, 5, n_levels), atol=1e-15)
    assert (np.diff(columns) > 0).all()


@pytest.mark.parametrize("n_levels", [1, 2, 3, 4])
def test_every_row_sums_to_one_whatever_the_number_of_features(n_levels):
    assert SpatialPyramid(n_levels).level_weights.sum() == pytest.approx(1)
    _, values = SpatialPyramid(n_levels).encode(RNG.integers(0, 9, 77), RNG.random((77, 2), dtype=np.float32), 9)
    assert values.sum() == pytest.approx(1)


def test_an_image_without_features_has_an_empty_row():
    columns, values = SpatialPyramid(3).encode(np.empty(0, np.intp), np.empty((0, 2), np.float32), 4)
    assert len(columns) == len(values) == 0


def test_its_intersection_is_the_spatial_pyramid_match():
    """Matches of one word at level l that are not matches at a finer level count 2^(l - L) each. [Kapoor2010, section 5]"""
    pyramid, sets = SpatialPyramid(3), [RNG.random((30, 2), dtype=np.float32) for _ in range(2)]
    rows = []
    for locations in sets:
        row = np.zeros(pyramid.n_cells)
        columns, values = pyramid.encode(np.zeros(30, np.intp), locations, 1)
        row[columns] = values
        rows.append(row)
    matches = [
        sum(
            min(*(((np.minimum(s * side, side - 1).astype(int) == (c, r)).all(axis=1)).sum() for s in sets))
            for r in range(side)
            for c in range(side)
        )
        for side in (1, 2, 4)
    ]
    finest = matches[2] + (matches[1] - matches[2]) / 2 + (matches[0] - matches[1]) / 4
    assert np.minimum(*rows).sum() == pytest.approx(finest / 30)


def test_several_words_of_a_feature_share_its_place_and_its_weight():
    words, locations = RNG.integers(0, 5, (40, 3)), RNG.random((40, 2), dtype=np.float32)
    columns, values = SpatialPyramid(2).encode(words, locations, 5)
    row = np.zeros(SpatialPyramid(2).n_cells * 5)
    row[columns] = values
    np.testing.assert_allclose(row, by_hand(words.ravel(), np.repeat(locations, 3, axis=0), 5, 2), atol=1e-15)
