"""Edges in four orientations, and points sampled along them."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features import EdgePoints


def half(axis, side=80):
    """Dark on one side, bright on the other."""
    pixels = np.zeros((side, side, 3), np.float32)
    pixels[(slice(None),) * axis + (slice(side // 2, None),)] = 1.0
    return pixels


@pytest.mark.parametrize(("axis", "orientation"), [(1, 0), (0, 2)])
def test_an_edge_is_found_in_the_plane_of_its_orientation(axis, orientation):
    planes = EdgePoints().planes(half(axis))
    assert planes.shape == (4, 80, 80)
    strongest = planes.sum(axis=(1, 2))
    assert strongest.argmax() == orientation
    assert strongest[orientation] > 0.99 * strongest.sum()


def test_a_bright_edge_and_its_negative_are_alike():
    pixels = np.random.default_rng(0).random((40, 50, 3)).astype(np.float32)
    np.testing.assert_allclose(EdgePoints().planes(1 - pixels), EdgePoints().planes(pixels), atol=1e-5)


def test_points_lie_on_edges_and_far_apart():
    points = EdgePoints(n_points=20).sample(EdgePoints().planes(half(1)))
    assert len(points) == 20
    assert (np.abs(points[:, 1] - 39.5) < 4 * EdgePoints().smoothing).all()
    gaps = np.diff(np.sort(points[:, 0]))
    assert gaps.max() <= 12


def test_the_same_image_has_the_same_points_and_another_one_others():
    noise = np.random.default_rng(0).random((60, 60, 3)).astype(np.float32)
    one, same, other = (EdgePoints().sample(EdgePoints().planes(x)) for x in (noise, noise.copy(), noise[::-1]))
    np.testing.assert_array_equal(one, same)
    assert len(one) == 250
    assert not np.array_equal(one, other)


def test_there_are_none_without_edges_and_few_in_few_pixels():
    assert EdgePoints().sample(EdgePoints().planes(np.full((30, 30, 3), 0.4, np.float32))).shape == (0, 2)
    tiny = np.random.default_rng(1).random((3, 4, 3)).astype(np.float32)
    assert 1 <= len(EdgePoints().sample(EdgePoints().planes(tiny))) <= 12


def test_wrong_options_are_one_sentence():
    with pytest.raises(InvalidInput, match="EdgePoints: n_points must be a whole number from 1 to 10,000, got 0"):
        EdgePoints(n_points=0)
