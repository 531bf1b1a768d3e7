"""Channel `phog`: which way the edges run."""

import numpy as np

from fewsight.channels import Phog
from fewsight.images import as_image


def striped(axis):
    """Stripes along one axis, as an image."""
    wave = np.sin(np.arange(64) / 2)[:, None] * np.ones((1, 64))
    grey = (0.5 + 0.4 * (wave if axis == 0 else wave.T)).astype(np.float32)
    return as_image(np.repeat(grey[:, :, None], 3, axis=2))


def test_stripes_of_one_direction_are_alike_and_of_another_are_not(tiles):
    channel = Phog(longest_side=64).fit(tiles.images)
    across, down = striped(0), striped(1)
    moved = as_image(np.roll(across.pixels(), 6, axis=0))
    K = channel.gram(channel.encode([across, moved, down]))
    assert K[0, 1] > 0.5 > K[0, 2]


def test_unsigned_directions_do_not_see_that_dark_and_bright_were_exchanged():
    ramp = np.repeat(np.tile(np.linspace(0, 1, 48, dtype=np.float32), (48, 1))[:, :, None], 3, axis=2)
    images = [as_image(ramp), as_image(1 - ramp)]
    for directions, expected in (("unsigned", 1.0), ("signed", 0.0)):
        channel = Phog(directions=directions, n_levels=1).fit(images)
        K = channel.gram(channel.encode(images))
        assert (K[0, 1] > 0.99) == bool(expected)
