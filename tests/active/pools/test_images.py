"""A pool of images, encoded once."""

import gc
import weakref

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.active import ImagePool
from fewsight.channels import Colour, Phog, SpatialPmk
from fewsight.images import sample_set

IMAGES = sample_set().images[::40]
CHANNEL = SpatialPmk(n_words=8, n_levels=1, n_descriptors=300, longest_side=64)


def test_kernel_values_are_those_of_the_channels():
    pool = ImagePool(IMAGES, [CHANNEL, Colour()])
    blocks = pool.grams(np.array([0, 2]))
    for channel, block in zip(pool.channels, blocks, strict=True):
        np.testing.assert_allclose(block, channel.gram(channel.encode([IMAGES[0], IMAGES[2]])), atol=1e-12)
    assert not hasattr(CHANNEL, "learned_")


@pytest.mark.slow
def test_comparing_with_a_sample_again_and_again_gives_the_same_kernel_values():
    pool, factors = ImagePool(IMAGES, [CHANNEL, Colour()]), np.array([0.5, 2.0])
    for rows, sample in (([0, 2], [1, 3, 4]), ([2, 1], [1, 3, 4]), ([0], [2]), ([], [2])):
        places = np.array(rows, dtype=np.intp), np.array(sample, dtype=np.intp)
        expected = pool.block(*places, factors)
        np.testing.assert_allclose(pool.with_sample(*places, factors), expected, rtol=1e-12, atol=1e-12)


def test_images_come_back_as_they_were_given_unless_only_encodings_are_known():
    pool = ImagePool(IMAGES, CHANNEL)
    assert pool.examples(np.array([1]))[0] is IMAGES[1]
    with pytest.raises(InvalidInput, match="the learner must take Gram matrices"):
        ImagePool.encoded(pool.channels, pool.encodings).examples(np.array([1]))


def test_channels_that_compare_otherwise_give_no_histograms():
    with pytest.raises(InvalidInput, match="compare by histogram intersection"):
        ImagePool(IMAGES, Colour()).histograms("who", np.arange(len(IMAGES)))
    assert len(ImagePool(IMAGES, CHANNEL).histograms("who", np.arange(3))) == len(IMAGES)


def test_a_grown_pool_compares_like_one_that_had_all_images_and_a_broken_image_changes_nothing(tmp_path):
    pool = ImagePool(IMAGES[:4], [CHANNEL, Colour()])
    before = pool.parts(np.array([1]))
    grown = pool.grow(IMAGES[4:6]).grow(IMAGES[6:])
    assert grown.images == list(IMAGES)
    whole = ImagePool.encoded(grown.channels, [channel.encode(IMAGES) for channel in grown.channels])
    for one, other in zip(grown.parts(np.arange(len(IMAGES))), whole.parts(np.arange(len(IMAGES))), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    (tmp_path / "broken.jpg").write_bytes(b"no image")
    with pytest.raises(UnreadableImage):
        pool.grow([tmp_path / "broken.jpg"])
    assert len(pool) == 4
    for one, other in zip(pool.parts(np.array([1])), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_encodings_can_be_added_to_a_pool_that_was_empty():
    fitted = ImagePool(IMAGES, [CHANNEL])
    pool = ImagePool.encoded(fitted.channels, []).grow_encoded([fitted.encodings[0].take(np.arange(3))])
    pool = pool.grow_encoded([fitted.encodings[0].take(np.arange(3, len(IMAGES)))])
    np.testing.assert_allclose(pool.parts(np.array([2]))[0], fitted.parts(np.array([2]))[0])
    with pytest.raises(InvalidInput, match="as many encodings for each of 1 channels, got"):
        pool.grow_encoded([])
    assert len(ImagePool([], CHANNEL).grow(IMAGES[:3])) == 3


def test_what_a_grown_pool_holds_ready_does_not_keep_the_rows_of_the_smaller_one_in_memory():
    fitted = ImagePool(IMAGES, [Colour(), Phog(), CHANNEL])
    pool = ImagePool.encoded(fitted.channels, [codes.take(np.arange(11)) for codes in fitted.encodings])
    pool.parts(np.array([0]))
    grown = pool.grow_encoded([codes.take(np.arange(11, len(IMAGES))) for codes in fitted.encodings])
    np.testing.assert_allclose(grown.parts(np.array([2])), fitted.parts(np.array([2])), atol=1e-12)
    assert grown._parts.parts == [(0, 11), (11, len(IMAGES))]
    assert all(codes.matrix.indices.dtype == np.int32 for codes in grown.encodings)
    of_the_smaller = [weakref.ref(codes.matrix.data) for codes in pool.encodings]
    del pool
    gc.collect()
    assert [values() for values in of_the_smaller] == [None] * 3
