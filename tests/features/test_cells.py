"""Histograms over a grid of cells, and the three descriptors that are made of them."""

import cv2
import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features import BinaryPatterns, Colours, OrientedGradients
from fewsight.features.cells import cell_centres, cell_features

RNG = np.random.default_rng(0)
PHOTO = cv2.GaussianBlur(RNG.random((60, 90, 3), dtype=np.float32), (0, 0), 2)
ALL = [OrientedGradients(side=4), Colours(side=4), BinaryPatterns(scales=(1.0, 2.0), side=4)]


def by_name(descriptor):
    return type(descriptor).__name__


@pytest.mark.parametrize("descriptor", ALL, ids=by_name)
def test_a_histogram_per_cell_that_together_sum_to_one(descriptor):
    features = descriptor.describe(PHOTO)
    assert features.descriptors.shape == (16, descriptor.n_bins)
    assert features.descriptors.min() >= 0
    assert features.descriptors.sum(dtype=np.float64) == pytest.approx(1, abs=1e-5)
    np.testing.assert_array_equal(features.locations, cell_centres(4))


@pytest.mark.parametrize("descriptor", ALL, ids=by_name)
@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (2, 3), (33, 5)])
def test_an_image_smaller_than_the_grid_is_described_too(descriptor, shape):
    for pixels in (np.full((*shape, 3), 0.5, np.float32), RNG.random((*shape, 3), dtype=np.float32)):
        features = descriptor.describe(pixels)
        assert features.descriptors.shape == (16, descriptor.n_bins)
        assert np.isfinite(features.descriptors).all()


def test_a_pixel_counts_in_the_cell_of_its_centre():
    codes = np.arange(6).reshape(2, 3)  # x centres 1/6, 3/6, 5/6
    histograms = cell_features([(codes, None)], 6, 2).descriptors
    np.testing.assert_array_equal(histograms.argmax(axis=1), [0, 1, 3, 4])
    np.testing.assert_allclose(histograms[1], np.array([0, 1, 1, 0, 0, 0]) / 6)


def test_amounts_that_are_all_zero_give_empty_histograms():
    codes, nothing = np.zeros((4, 4), int), np.zeros((4, 4))
    assert not cell_features([(codes, nothing)], 3, 2).descriptors.any()


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        (OrientedGradients, {"n_bins": 8, "directions": "signed", "smoothing": 0.3, "side": 2}),
        (Colours, {"n_lightness": 2, "n_chroma": 3, "power": 0.3, "side": 2}),
        (BinaryPatterns, {"scales": (3.0,), "margin": 1, "side": 2}),
    ],
)
def test_each_option_enters_the_recipe(kind, others):
    recipes = [kind(), *(kind(**{name: value}) for name, value in others.items())]
    assert len({str(descriptor.recipe()) for descriptor in recipes}) == 1 + len(others)


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (OrientedGradients, {"n_bins": 1}, r"OrientedGradients: n_bins must be a whole number from 2 to 360, got 1\."),
        (OrientedGradients, {"directions": "both"}, "directions must be one of 'signed', 'unsigned', got 'both'"),
        (OrientedGradients, {"smoothing": -1}, "smoothing must be a number from 0 to 100, got -1"),
        (OrientedGradients, {"side": 0}, "side must be a whole number from 1 to 128"),
        (Colours, {"n_lightness": 0}, "Colours: n_lightness must be a whole number from 1 to 64"),
        (Colours, {"n_chroma": 65}, "n_chroma must be a whole number from 1 to 64"),
        (Colours, {"power": "much"}, "power must be a number from 0.1 to 4, got 'much'"),
        (BinaryPatterns, {"scales": ()}, "BinaryPatterns: scales must be a tuple of one or more numbers"),
        (BinaryPatterns, {"margin": 0.5}, "margin must be a whole number from 0 to 255, got 0.5"),
        (BinaryPatterns, {"scales": (0.5,)}, "scales must be a number from 1 to 100, got 0.5"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(kind, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        kind(**options)
