"""Channel `dense_pmk`: a pyramid match of dense SIFT and position."""

import numpy as np

from fewsight.channels import DensePmk
from fewsight.images import as_image

QUICK = {"n_descriptors": 1_000, "longest_side": 64}


def test_a_strong_position_tells_an_image_from_its_mirror_image(tiles):
    image = tiles.images[3]
    mirrored = as_image(np.ascontiguousarray(image.pixels()[:, ::-1]))
    likeness = {}
    for position in (0.0, 200.0):
        channel = DensePmk(position=position, **QUICK).fit(tiles.images[:6])
        A = channel.encode([image, mirrored])
        likeness[position] = channel.gram(A)[0, 1]
    assert likeness[200.0] < likeness[0.0]


def test_more_levels_make_images_more_alike(tiles):
    means = []
    for n_levels in (1, 5):
        channel = DensePmk(n_levels=n_levels, **QUICK).fit(tiles.images[:6])
        K = channel.gram(channel.encode(tiles.images[:6]))
        means.append(K[~np.eye(6, dtype=bool)].mean())
    assert means[0] < means[1]
