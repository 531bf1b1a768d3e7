"""Harris corners at the scales of a Gaussian scale space."""

import cv2
import numpy as np

from fewsight.features import Regions
from fewsight.features.corners import ScaleSpace, harris_corners


def space_of(grey):
    """Of a picture in grey levels of 255."""
    return ScaleSpace(cv2.cvtColor(np.asarray(grey, np.float32) / 255, cv2.COLOR_GRAY2RGB))


def test_the_corners_of_a_square_are_found_where_they_are():
    picture = np.full((120, 140), 60.0)
    picture[30:90, 40:110] = 200
    regions = harris_corners(space_of(picture), threshold=1.0, characteristic=False)
    for corner in [(39.5, 29.5), (109.5, 29.5), (39.5, 89.5), (109.5, 89.5)]:
        assert np.linalg.norm(regions.centres - corner, axis=1).min() < 2


def test_corners_of_all_scales_are_more_than_those_of_characteristic_ones_and_all_are_strong_enough():
    noise = cv2.GaussianBlur(np.random.default_rng(0).random((150, 150)) * 255, (0, 0), 2)
    every, some = (harris_corners(space_of(noise), threshold=2.0, characteristic=flag) for flag in (False, True))
    assert len(every) > len(some) > 0
    assert every.strengths.min() > 2
    assert some.strengths.min() > 2


def test_selected_regions_stay_together():
    regions = Regions(np.arange(6.0).reshape(3, 2), np.arange(3.0), np.tile(np.eye(2), (3, 1, 1)), np.ones(3))
    chosen = regions.select(np.array([2, 0]))
    assert len(chosen) == 2
    np.testing.assert_array_equal(chosen.centres[:, 0], [4, 0])
    np.testing.assert_array_equal(chosen.scales, [2, 0])
