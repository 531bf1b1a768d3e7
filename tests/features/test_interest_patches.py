"""Interest points of four detectors, and the patches around them."""

import cv2
import numpy as np
import pytest
from skimage import data

from fewsight._base.errors import InvalidInput
from fewsight.features import InterestPatches, Regions
from fewsight.features.interest_patches import EXTENTS, at_width, cleared

DETECTORS = sorted(EXTENTS)


def as_pixels(grey):
    return np.repeat((np.asarray(grey, np.float32) / 255)[:, :, None], 3, axis=2)


def spot(radius, centre=(90, 60), shape=(130, 200)):
    """A soft bright disc on grey, which every detector sees but the one of corners."""
    y, x = np.indices(shape)
    squared = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
    return as_pixels(80 + 150 * np.exp(-0.5 * squared / radius**2))


@pytest.mark.parametrize("detector", ["dog", "hessian"])
@pytest.mark.parametrize("radius", [4.0, 9.0])
def test_a_blob_is_found_at_its_place_and_scale(detector, radius):
    regions = InterestPatches(detector=detector, width=200).regions(spot(radius))
    np.testing.assert_allclose(regions.centres[0], (90, 60), atol=0.7)
    assert 0.7 * radius < regions.scales[0] / EXTENTS[detector] < 1.45 * radius


def test_a_speckled_disc_is_salient_at_its_radius():
    rng = np.random.default_rng(0)
    y, x = np.indices((120, 160))
    inside = (x - 80) ** 2 + (y - 60) ** 2 <= 14**2
    regions = InterestPatches(detector="kb", width=160).regions(
        as_pixels(np.where(inside, rng.integers(0, 256, x.shape), 128))
    )
    np.testing.assert_allclose(regions.centres[0], (80, 60), atol=2)
    assert 12 <= regions.scales[0] <= 16


def test_a_corner_is_found():
    picture = np.full((100, 160), 60.0)
    picture[:50, :80] = 200
    regions = InterestPatches(detector="harris", width=160).regions(as_pixels(picture))
    assert np.linalg.norm(regions.centres - (79.5, 49.5), axis=1).min() < 4


@pytest.mark.parametrize("detector", DETECTORS)
def test_patches_are_of_one_brightness_and_contrast(detector):
    picture = cv2.resize(data.camera(), (200, 150), interpolation=cv2.INTER_AREA)
    describe = InterestPatches(detector=detector, width=200, max_points=30).describe
    bright, dim = describe(as_pixels(picture)), describe(as_pixels(0.5 * picture + 60.0))
    assert len(bright) == 30
    assert bright.descriptors.shape == (30, 121)
    np.testing.assert_allclose(bright.descriptors.mean(axis=1), 0, atol=1e-3)
    np.testing.assert_allclose(bright.descriptors.std(axis=1), 1, atol=1e-3)
    assert (np.diff(bright.strengths) <= 0).all()
    assert bright.aspect == 200 / 150
    if detector != "kb":  # whose bins of grey levels are what they are
        same = np.linalg.norm(bright.locations[:, None] - dim.locations, axis=2).min(axis=1) < 0.01
        assert same.mean() > 0.7


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_smaller_or_larger_copy_has_the_same_points(detector, factor):
    """Whatever the size of the image, it is looked at one width."""
    picture = cv2.resize(data.camera(), (160, 120), interpolation=cv2.INTER_AREA)
    scaled = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
    describe = InterestPatches(detector=detector, width=160).describe
    found, expected = describe(as_pixels(scaled)).locations, describe(as_pixels(picture)).locations
    near = np.linalg.norm(expected[:, None] - found, axis=2).min(axis=1) < 0.03
    assert near.mean() > 0.5


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 300), (300, 2), (40, 40)])
def test_a_blank_image_of_any_shape_has_no_point(detector, shape):
    found = InterestPatches(detector=detector, width=64).describe(np.full((*shape, 3), 0.5, np.float32))
    assert found.descriptors.shape == (0, 121)
    assert found.locations.shape == (0, 2)


def test_images_are_made_of_one_width_and_tall_ones_are_bounded():
    assert at_width(np.zeros((30, 50, 3), np.float32), 100).shape == (60, 100, 3)
    assert at_width(np.zeros((300, 500, 3), np.float32), 100).shape == (60, 100, 3)
    assert at_width(np.zeros((300, 3, 3), np.float32), 100).shape == (400, 4, 3)


def test_weaker_neighbours_are_cleared():
    regions = Regions.circles(
        np.array([[0.0, 0], [3, 0], [9, 0], [9.5, 0]]), np.array([4.0, 8, 8, 0.1]), -np.arange(4.0)
    )
    np.testing.assert_array_equal(cleared(regions, 9, 1.0).centres[:, 0], [0, 9, 9.5])
    np.testing.assert_array_equal(cleared(regions, 2, 1.0).centres[:, 0], [0, 9])
    assert len(cleared(regions, 9, 0.0)) == 4


def test_a_wrong_option_is_one_sentence():
    with pytest.raises(
        InvalidInput, match="InterestPatches: detector must be one of 'kb', 'dog', 'harris', 'hessian', got 'sift'"
    ):
        InterestPatches(detector="sift")
    with pytest.raises(InvalidInput, match="InterestPatches: width must be a whole number from 16 to 2,000, got 3"):
        InterestPatches(width=3)
