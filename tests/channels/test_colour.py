"""Channel `colour`: which colours are where."""

import numpy as np

from fewsight.channels import Colour
from fewsight.images import as_image

RED, BLUE = (0.8, 0.1, 0.1), (0.1, 0.1, 0.8)


def halves(left, right):
    pixels = np.empty((40, 40, 3), np.float32)
    pixels[:, :20], pixels[:, 20:] = left, right
    return as_image(pixels)


def test_images_of_one_colour_are_alike_and_of_two_are_not():
    images = [halves(RED, RED), halves(RED, RED), halves(BLUE, BLUE)]
    channel = Colour().fit(images)
    K = channel.gram(channel.encode(images))
    assert K[0, 1] == 1.0
    assert K[0, 2] < 0.5


def test_where_a_colour_is_counts_unless_there_is_one_level():
    images = [halves(RED, BLUE), halves(BLUE, RED)]
    for n_levels, alike in ((1, True), (3, False)):
        channel = Colour(n_levels=n_levels).fit([*images, halves(RED, RED)])
        K = channel.gram(channel.encode(images))
        assert (K[0, 1] > 0.999) == alike
