"""Histograms of gradient orientations."""

import cv2
import numpy as np
import pytest

from fewsight.features import OrientedGradients

RNG = np.random.default_rng(0)
PHOTO = cv2.GaussianBlur(RNG.random((60, 90, 3), dtype=np.float32), (0, 0), 2)


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
