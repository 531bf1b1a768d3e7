"""Channel `texture`: what the surface is like."""

import numpy as np

from fewsight.channels import Texture
from fewsight.images import as_image


def noise(seed, grain):
    rng = np.random.default_rng(seed)
    grey = np.kron(rng.random((64 // grain, 64 // grain)), np.ones((grain, grain))).astype(np.float32)
    return as_image(np.repeat(grey[:, :, None], 3, axis=2))


def test_surfaces_of_one_grain_are_more_alike_than_those_of_two():
    images = [noise(0, 2), noise(1, 2), noise(2, 16)]
    channel = Texture(n_levels=1, longest_side=64).fit(images)
    K = channel.gram(channel.encode(images))
    assert K[0, 1] > K[0, 2]
    assert K[0, 1] > K[1, 2]


def test_more_light_changes_nothing():
    image = noise(0, 4)
    darker = as_image(0.6 * image.pixels() + 0.1)
    channel = Texture(margin=0, longest_side=64).fit([image])
    distance = channel.distances(channel.encode([image]), channel.encode([darker]))
    assert distance[0, 0] < 0.1
