"""A pool of images, encoded once."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import ImagePool
from fewsight.channels import Colour, SpatialPmk
from fewsight.images import sample_set

IMAGES = sample_set().images[::40]
CHANNEL = SpatialPmk(n_words=8, n_levels=1, n_descriptors=300, longest_side=64)


def test_kernel_values_are_those_of_the_channels():
    pool = ImagePool(IMAGES, [CHANNEL, Colour()])
    blocks = pool.grams(np.array([0, 2]))
    for channel, block in zip(pool.channels, blocks, strict=True):
        np.testing.assert_allclose(block, channel.gram(channel.encode([IMAGES[0], IMAGES[2]])), atol=1e-12)
    assert not hasattr(CHANNEL, "learned_")


def test_images_come_back_as_they_were_given_unless_only_encodings_are_known():
    pool = ImagePool(IMAGES, CHANNEL)
    assert pool.examples(np.array([1]))[0] is IMAGES[1]
    with pytest.raises(InvalidInput, match="the learner must take Gram matrices"):
        ImagePool.encoded(pool.channels, pool.encodings).examples(np.array([1]))


def test_channels_that_compare_otherwise_give_no_histograms():
    with pytest.raises(InvalidInput, match="compare by histogram intersection"):
        ImagePool(IMAGES, Colour()).histograms("who", np.arange(len(IMAGES)))
    assert len(ImagePool(IMAGES, CHANNEL).histograms("who", np.arange(3))) == len(IMAGES)
