"""Dense SIFT: what OpenCV computes, on the grid that was asked for."""

import cv2
import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features import DenseSift

RNG = np.random.default_rng(0)
PHOTO = cv2.GaussianBlur(RNG.random((90, 120, 3), dtype=np.float32), (0, 0), 2)


def test_descriptors_are_those_of_opencv_at_the_grid_points():
    features = DenseSift(step=10).describe(PHOTO)
    grey = np.rint(cv2.cvtColor(PHOTO, cv2.COLOR_RGB2GRAY) * 255).astype(np.uint8)
    points = [cv2.KeyPoint(float(x), float(y), 16 / 6, 0.0) for x, y in features.locations * np.float32([120, 90])]
    _, expected = cv2.SIFT_create().compute(grey, points)
    np.testing.assert_allclose(features.descriptors, expected, atol=1)


def test_the_grid_is_centred_keeps_its_step_and_stays_inside():
    features = DenseSift(step=8, scales=(1.0, 1.5)).describe(PHOTO)
    x = np.unique(features.locations[: 14 * 10, 0] * 120)
    np.testing.assert_allclose(np.diff(x), 8, atol=1e-3)
    assert x[0] == pytest.approx(120 - x[-1])
    assert x[0] >= 8
    assert len(features) == 14 * 10 + 13 * 9  # 80 x 60 at the second scale, a step of 16 / 3
    assert features.descriptors.dtype == np.uint8


@pytest.mark.parametrize("shape", [(1, 1), (2, 400), (15, 15), (16, 16), (33, 5)])
def test_an_image_smaller_than_a_patch_still_has_a_descriptor(shape):
    features = DenseSift(step=8, scales=(0.5, 1.0, 2.0)).describe(np.full((*shape, 3), 0.5, np.float32))
    assert len(features) >= 3
    assert features.descriptors.shape[1] == 128
    assert ((features.locations > 0) & (features.locations < 1)).all()


def test_a_scale_describes_the_shrunken_image():
    twice = DenseSift(step=16, scales=(2.0,)).describe(PHOTO)
    small = cv2.resize(
        cv2.convertScaleAbs(cv2.cvtColor(PHOTO, cv2.COLOR_RGB2GRAY), alpha=255), (60, 45), interpolation=cv2.INTER_AREA
    )
    same = DenseSift(step=8).describe(np.repeat(small[:, :, None], 3, axis=2).astype(np.float32) / 255)
    np.testing.assert_allclose(twice.locations, same.locations, atol=1e-6)
    np.testing.assert_allclose(twice.descriptors.astype(int), same.descriptors, atol=2)


def test_a_flat_patch_gets_the_zero_descriptor():
    half = np.zeros((64, 128, 3), np.float32)
    half[:, 64:] = PHOTO[:64, :64]
    features = DenseSift(step=8, scales=(1.0, 1.5), contrast=1.0).describe(half)
    flat = features.locations[:, 0] < 0.35
    assert not features.descriptors[flat].any()
    assert features.descriptors[features.locations[:, 0] > 0.65].any(axis=1).all()


def test_each_option_enters_the_recipe():
    recipes = [DenseSift(), DenseSift(step=4), DenseSift(patch=24), DenseSift(scales=(2.0,)), DenseSift(contrast=1.0)]
    assert len({str(sift.recipe()) for sift in recipes}) == 5


def test_bad_options_are_refused_in_one_sentence():
    with pytest.raises(InvalidInput, match=r"DenseSift: step must be a number from 0.5 to 10000, got 0\."):
        DenseSift(step=0)
    with pytest.raises(InvalidInput, match="scales must be a tuple"):
        DenseSift(scales=1.5)
    with pytest.raises(InvalidInput, match="contrast"):
        DenseSift(contrast=-1)
