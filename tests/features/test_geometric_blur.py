"""Geometric blur: what is far from a point may move more before its descriptor changes."""

import cv2
import numpy as np
import pytest
from skimage import data

from fewsight._base.errors import InvalidInput
from fewsight.features import EdgePoints, GeometricBlur


@pytest.fixture(scope="module")
def photograph():
    return np.ascontiguousarray(data.astronaut()[:300:2, 100:400:2].astype(np.float32) / 255)


def test_descriptors_have_48_numbers_and_unit_length(photograph):
    features = GeometricBlur().describe(photograph)
    assert features.descriptors.shape == (250, 48) == (250, GeometricBlur.width)
    assert features.descriptors.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(features.descriptors.astype(float), axis=1), 1, atol=2e-3)
    assert ((features.locations >= 0) & (features.locations <= 1)).all()


def test_a_value_is_the_blurred_plane_at_its_place(photograph):
    """By a direct sum over the whole plane, at the point itself and on the outermost ring."""
    blur = GeometricBlur()
    planes = blur.points.planes(photograph)
    place = np.array([[70, 80]])
    found = blur._around(planes, place)[0].reshape(-1)
    rows, columns = np.indices(planes.shape[1:])
    reach = blur.radius * max(planes.shape[1:])

    def value(plane, radius, angle):
        sigma = 0.3 * radius + 1
        y, x = 70 + radius * np.sin(angle), 80 + radius * np.cos(angle)
        weight = np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / (2 * sigma**2)) / (2 * np.pi * sigma**2)
        return (weight * plane).sum()

    centre = [value(plane, 0.0, 0.0) for plane in planes]
    outer = [value(plane, reach, 2 * np.pi * k / 7) for plane in planes for k in range(7)]
    scale = found[0] / centre[0]
    np.testing.assert_allclose(found[:4], scale * np.array(centre), rtol=0.02)
    np.testing.assert_allclose(found[-28:], scale * np.array(outer), rtol=0.1, atol=0.02 * found.max())


def test_a_small_turn_changes_less_than_another_place(photograph):
    blur = GeometricBlur(points=EdgePoints(n_points=60))
    turn = cv2.getRotationMatrix2D((75, 75), 8, 1.0)
    turned = cv2.warpAffine(photograph, turn, (150, 150), borderMode=cv2.BORDER_REPLICATE)
    planes, after = (blur.points.planes(each) for each in (photograph, turned))
    places = blur.points.sample(planes)
    places = places[(np.abs(places - 75) < 40).all(axis=1)]
    moved = np.rint(places[:, ::-1] @ turn[:, :2].T + turn[:, 2])[:, ::-1].astype(np.intp)
    one, other = blur._around(planes, places), blur._around(after, moved)
    D = ((one[:, None] - other[None]) ** 2).sum(axis=2)
    assert np.median(D.diagonal()) < 0.5 * np.median(D)


def test_contrast_and_brightness_do_not_count(photograph):
    blur, place = GeometricBlur(), np.array([[70, 80], [40, 50]])
    full, half = (blur._around(blur.points.planes(each), place) for each in (photograph, 0.2 + 0.5 * photograph))
    np.testing.assert_allclose(half, full, atol=1e-4)


def test_an_image_without_edges_has_none():
    assert GeometricBlur().describe(np.full((20, 30, 3), 0.5, np.float32)).descriptors.shape == (0, 48)


def test_every_option_is_in_the_recipe_and_wrong_ones_are_one_sentence():
    others = [GeometricBlur(radius=0.1), GeometricBlur(growth=0.4), GeometricBlur(points=EdgePoints(n_points=10))]
    recipes = [each.recipe() for each in (GeometricBlur(), GeometricBlur(least_blur=2.0), *others)]
    assert len({str(recipe) for recipe in recipes}) == 5
    with pytest.raises(InvalidInput, match=r"GeometricBlur: radius must be a number from 0\.01 to 1, got 2"):
        GeometricBlur(radius=2)
