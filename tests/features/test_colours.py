"""Joint histograms of lightness and chroma."""

import cv2
import numpy as np

from fewsight.features import Colours

RNG = np.random.default_rng(0)
PHOTO = cv2.GaussianBlur(RNG.random((60, 90, 3), dtype=np.float32), (0, 0), 2)


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
