"""SIFT of the opponent colours: the intensity plane as before, two more planes that see colour and nothing else."""

import cv2
import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features import DenseOpponentSift, DenseSift
from fewsight.features.opponent_sift import opponent_planes

RNG = np.random.default_rng(0)
SMOOTH = cv2.GaussianBlur(RNG.random((90, 120, 3), dtype=np.float32), (0, 0), 2)
PHOTO = (SMOOTH - SMOOTH.min()) / (SMOOTH.max() - SMOOTH.min())
GREY = np.repeat(PHOTO.mean(axis=2, keepdims=True), 3, axis=2)


def parts(pixels, **options):
    """The descriptors of O1, O2 and O3 as integers."""
    return np.split(DenseOpponentSift(**options).describe(pixels).descriptors.astype(int), 3, axis=1)


def test_each_plane_is_its_combination_of_the_three_colours():
    red, green, blue = PHOTO.transpose(2, 0, 1)
    o1, o2, o3 = (plane.astype(float) for plane in opponent_planes(PHOTO))
    np.testing.assert_allclose(o1 - 128, 127 * (red - green), atol=0.501)
    np.testing.assert_allclose(o2 - 128, 127 * (red + green - 2 * blue) / 2, atol=0.501)
    np.testing.assert_allclose(o3, 255 * (red + green + blue) / 3, atol=0.501)


def test_the_purest_colours_are_not_clipped():
    corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), axis=-1).reshape(1, 8, 3).astype(np.float32)
    planes = opponent_planes(corners)
    assert [(int(plane.min()), int(plane.max())) for plane in planes] == [(1, 255), (1, 255), (0, 255)]


def test_the_grid_and_the_intensity_are_those_of_dense_sift():
    ours, grey = DenseOpponentSift(contrast=0).describe(GREY), DenseSift(scales=(1.0, 2.0)).describe(GREY)
    np.testing.assert_array_equal(ours.locations, grey.locations)
    assert ours.descriptors.dtype == np.uint8
    np.testing.assert_allclose(ours.descriptors[:, 256:].astype(int), grey.descriptors, atol=12)


@pytest.mark.parametrize("contrast", [0.0, 1.0])
def test_a_grey_image_has_no_colour_to_describe(contrast):
    o1, o2, o3 = parts(GREY, contrast=contrast)
    assert not o1.any()
    assert not o2.any()
    assert o3.any(axis=1).mean() > 0.9


def test_rounding_in_a_nearly_grey_image_is_not_blown_up():
    tinted = np.rint(255 * GREY * np.float32([1.0, 0.99, 0.985])) / np.float32(255)
    blown_up, described = parts(tinted, contrast=0), parts(tinted)
    for plane in range(2):
        full = np.linalg.norm(blown_up[plane], axis=1).mean()
        assert full > 450
        assert np.linalg.norm(described[plane], axis=1).mean() < full / 4
    assert np.linalg.norm(described[2], axis=1).mean() > 400


def test_another_hue_alters_the_colour_descriptors():
    before, after = parts(PHOTO), parts(np.ascontiguousarray(PHOTO[:, :, [1, 2, 0]]))
    for plane in range(2):
        assert np.abs(before[plane] - after[plane]).mean() > 10
    assert np.abs(before[2] - after[2]).max() <= 4


def test_less_light_alters_nothing_but_rounding():
    for before, after in zip(parts(PHOTO, contrast=0.1), parts(0.6 * PHOTO, contrast=0.1), strict=True):
        assert np.abs(before - after).mean() < 1.5


@pytest.mark.parametrize("shape", [(1, 1), (2, 400), (33, 5)])
def test_an_image_smaller_than_a_patch_still_has_a_descriptor(shape):
    features = DenseOpponentSift().describe(np.full((*shape, 3), 0.5, np.float32))
    assert features.descriptors.shape[1] == 384
    assert not features.descriptors.any()


def test_each_option_enters_the_recipe():
    options = [{}, {"step": 4}, {"patch": 24}, {"scales": (2.0,)}, {"contrast": 2.0}]
    assert len({str(DenseOpponentSift(**option).recipe()) for option in options}) == 5


@pytest.mark.parametrize("option", [{"step": 0}, {"patch": 2}, {"scales": 1.5}, {"scales": ()}])
def test_bad_options_are_refused_in_one_sentence(option):
    with pytest.raises(InvalidInput, match=f"DenseSift: {next(iter(option))} must be"):
        DenseOpponentSift(**option)


@pytest.mark.parametrize("contrast", [-1, 256, float("nan"), "much"])
def test_a_bad_contrast_is_refused_in_one_sentence(contrast):
    with pytest.raises(InvalidInput, match="DenseOpponentSift: contrast must be a number from 0 to 255, got "):
        DenseOpponentSift(contrast=contrast)
