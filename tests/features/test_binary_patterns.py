"""Local binary patterns."""

import cv2
import numpy as np

from fewsight.features import BinaryPatterns
from fewsight.features.binary_patterns import RING

RNG = np.random.default_rng(0)
PHOTO = cv2.GaussianBlur(RNG.random((60, 90, 3), dtype=np.float32), (0, 0), 2)


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
