"""Histograms over a grid of cells, and the three descriptors that are made of them."""

import cv2
import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features import BinaryPatterns, Colours, OrientedGradients
from fewsight.features.binary_patterns import RING
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


# Oriented gradients


@pytest.mark.parametrize("smoothing", [0, 1.0])
def test_brightness_and_contrast_do_not_change_oriented_gradients(smoothing):
    descriptor = OrientedGradients(smoothing=smoothing)
    expected = descriptor.describe(PHOTO).descriptors
    for changed in (0.25 * PHOTO, 0.5 * PHOTO + 0.25):
        np.testing.assert_allclose(descriptor.describe(changed).descriptors, expected, atol=1e-5)


@pytest.mark.parametrize(("turns", "bin_"), [(0, 0), (1, 3), (2, 2), (3, 1)])
def test_a_ramp_falls_into_the_bin_of_its_direction(turns, bin_):
    """Bin 0 is brighter to the right, bin 1 (of 4) downwards, and so on; a ramp turned anti-clockwise goes back by one."""
    ramp = np.rot90(np.tile(np.linspace(0, 1, 40, dtype=np.float32)[None, :, None], (40, 1, 3)), turns)
    signed = OrientedGradients(n_bins=4, directions="signed", side=1).describe(ramp).descriptors[0]
    np.testing.assert_allclose(signed, np.eye(4)[bin_], atol=1e-3)
    unsigned = OrientedGradients(n_bins=4, directions="unsigned", side=1).describe(ramp).descriptors[0]
    np.testing.assert_allclose(unsigned, np.eye(4)[2 * (turns % 2)], atol=1e-3)


def test_an_orientation_between_two_bins_is_shared_by_them():
    y, x = np.mgrid[:40, :40].astype(np.float32)
    ramp = np.repeat(((x + y) / 80)[:, :, None], 3, axis=2)
    inner = (
        OrientedGradients(n_bins=4, directions="signed", side=5).describe(ramp).descriptors[12]
    )  # away from the border
    np.testing.assert_allclose(inner / inner.sum(), [0.5, 0.5, 0, 0], atol=1e-3)


def test_an_edge_counts_by_its_height():
    pixels = np.full((80, 80, 3), 0.2, np.float32)
    pixels[:, 20:] += 0.3  # in the left half
    pixels[:, 60:] += 0.1  # in the right half
    histograms = OrientedGradients(side=2).describe(pixels).descriptors
    np.testing.assert_allclose(histograms.sum(axis=1), [0.375, 0.125, 0.375, 0.125], rtol=1e-3)


def test_smoothing_removes_fine_structure():
    """A fine checkerboard on a ramp: its edges go, the ramp stays."""
    y, x = np.mgrid[:60, :60]
    pixels = np.repeat((0.2 + x / 120)[:, :, None], 3, axis=2).astype(np.float32)
    pixels[:, :, :] += np.float32(0.1) * ((x // 2 + y // 2) % 2)[:, :, None]
    rough, smooth = (OrientedGradients(n_bins=4, smoothing=sigma, side=3).describe(pixels) for sigma in (0, 2.0))
    along_the_ramp = [features.descriptors[4, 0] / features.descriptors[4].sum() for features in (rough, smooth)]
    assert along_the_ramp[0] < 0.6
    assert along_the_ramp[1] > 0.95


@pytest.mark.parametrize("smoothing", [0, 0.7, 1.0, 5.0])
def test_an_image_without_edges_has_empty_histograms_and_the_slightest_edge_does_not(smoothing):
    descriptor = OrientedGradients(smoothing=smoothing)
    for level in (0.1, 0.3, 0.7, 1.0):
        assert not descriptor.describe(np.full((50, 50, 3), level, np.float32)).descriptors.any()
    step = np.full((50, 50, 3), 100 / 255, np.float32)
    step[:, 25:] = 101 / 255
    assert descriptor.describe(step).descriptors.sum() == pytest.approx(1)


# Colours


def test_the_colours_of_the_whole_image_do_not_depend_on_where_they_are():
    descriptor = Colours(side=1)
    shuffled = RNG.permutation(PHOTO.reshape(-1, 3)).reshape(PHOTO.shape)
    np.testing.assert_allclose(
        descriptor.describe(shuffled).descriptors, descriptor.describe(PHOTO).descriptors, atol=1e-6
    )


def test_grey_images_differ_in_lightness_only():
    grey = np.repeat(PHOTO[:, :, :1], 3, axis=2)
    histogram = Colours(n_lightness=5, n_chroma=3, side=1).describe(grey).descriptors[0].reshape(5, 9)
    np.testing.assert_allclose(histogram.sum(axis=0), np.eye(9)[4], atol=0.02)  # the middle of a* and b*
    assert np.count_nonzero(histogram.sum(axis=1) > 0.01) > 1


def test_colours_that_are_alike_have_more_in_common():
    def of(*rgb):
        return Colours(side=1).describe(np.full((8, 8, 3), rgb, np.float32)).descriptors[0]

    red, orange, blue = of(0.8, 0.1, 0.1), of(0.8, 0.25, 0.1), of(0.1, 0.1, 0.8)
    assert np.minimum(red, orange).sum() > 0.3 > np.minimum(red, blue).sum()


# Binary patterns


def test_binary_patterns_are_those_of_their_definition():
    grey = RNG.integers(0, 255, (7, 9), dtype=np.uint8)
    pixels = np.repeat(grey[:, :, None], 3, axis=2).astype(np.float32) / 255
    padded = np.pad(grey.astype(int), 1, mode="edge")
    counts = np.zeros(59)
    names = {}
    for pattern in range(256):
        bits = [(pattern >> bit) & 1 for bit in range(8)]
        changes = sum(bits[bit] != bits[bit - 1] for bit in range(8))
        names[pattern] = sum(p in names and names[p] < 58 for p in range(pattern)) if changes <= 2 else 58
    for row in range(7):
        for column in range(9):
            bits = [padded[row + 1 + y, column + 1 + x] >= padded[row + 1, column + 1] for y, x in RING]
            counts[names[sum(int(bit) << place for place, bit in enumerate(bits))]] += 1
    found = BinaryPatterns(scales=(1.0,), margin=0, side=1).describe(pixels).descriptors[0]
    np.testing.assert_allclose(found, counts / counts.sum(), atol=1e-6)


def test_patterns_do_not_change_when_brightness_grows_steadily():
    grey = np.repeat(RNG.integers(0, 16, (30, 40, 1)), 3, axis=2).astype(np.float32) / 255
    descriptor = BinaryPatterns(scales=(1.0,), margin=0)
    curved = (255 * grey) ** 2 / 255
    np.testing.assert_allclose(descriptor.describe(curved).descriptors, descriptor.describe(grey).descriptors)


def test_noise_below_the_margin_writes_no_patterns():
    noise = np.repeat(RNG.integers(100, 104, (30, 40, 1)), 3, axis=2).astype(np.float32) / 255
    with_margin, without = (BinaryPatterns(scales=(1.0,), margin=margin, side=1) for margin in (3, 0))
    assert np.count_nonzero(with_margin.describe(noise).descriptors) == 1
    assert np.count_nonzero(without.describe(noise).descriptors) > 30


def test_each_scale_has_bins_of_its_own():
    one, two = BinaryPatterns(scales=(1.0,)).describe(PHOTO), BinaryPatterns(scales=(2.0,)).describe(PHOTO)
    both = BinaryPatterns(scales=(1.0, 2.0)).describe(PHOTO)
    np.testing.assert_allclose(both.descriptors, np.hstack([one.descriptors, two.descriptors]) / 2)


# Options


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
