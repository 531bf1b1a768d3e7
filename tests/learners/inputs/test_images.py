"""Images through channels, and channels that a learner asks for while it learns."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import Colour, SpatialPmk, Texture
from fewsight.gp import BlockStack, GramStack
from fewsight.images import ImageArray, sample_set
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, SparseGPClassifier
from fewsight.learners.inputs import ChannelInput
from fewsight.learners.inputs import base as inputs_base
from fewsight.testing.channel_checks import some_images

IMAGES = some_images()
LABELS = np.array(["a", "b"])[np.arange(12) % 2]
OTHERS = [Texture(longest_side=64), SpatialPmk(n_words=20, n_descriptors=500, longest_side=64)]


def fitted_input(*channels, images=IMAGES[:8]):
    side = ChannelInput(channels or [Colour(longest_side=64)])
    side.fit(images, LABELS[: len(images)], np.arange(len(images)))
    return side


def test_a_further_channel_is_fitted_and_scaled_as_the_first_ones_were():
    side, direct = fitted_input(), ChannelInput(OTHERS)
    expected = direct.fit(IMAGES[:8], LABELS[:8], np.arange(8))
    for channel, K in zip(OTHERS, expected, strict=True):
        np.testing.assert_allclose(side.gram(channel), K, rtol=1e-12)
        assert not hasattr(channel, "learned_")  # what was passed is left as it was
    assert [channel.name for channel in side.channels] == ["colour"]  # asking changes nothing


def test_what_was_chosen_is_an_input_like_any_other():
    side, direct = fitted_input().taking(OTHERS), fitted_input(*OTHERS)
    found, expected = (each.compare(each.read(IMAGES[8:])) for each in (side, direct))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    again = ChannelInput.from_state(side.state())
    np.testing.assert_allclose(again.compare(again.read(IMAGES[8:])), expected, rtol=1e-12)


def test_the_images_are_let_go_when_learning_is_over():
    side = fitted_input()
    assert side.examples == IMAGES[:8]
    side.release()
    stored = ChannelInput.from_state(fitted_input().state())
    learned = GPClassifier(Colour(longest_side=64)).fit(IMAGES[:8], LABELS[:8]).input_
    for each in (side, stored, learned, fitted_input().select(np.arange(3))):
        with pytest.raises(InvalidInput, match="channels can only be made while the training images are at hand"):
            each.gram(Texture())


def test_images_are_not_compared_by_a_kernel_of_rows():
    with pytest.raises(InvalidInput, match=r"ChannelInput: images must be compared by channels, got RBF\(scale=1.0\)"):
        fitted_input().gram(RBF())


def test_many_channels_are_packed(monkeypatch):
    listed = fitted_input(*OTHERS).compare(fitted_input(*OTHERS).read(IMAGES[8:]))
    monkeypatch.setattr(inputs_base, "MOST_LISTED", 1)
    side = ChannelInput(OTHERS)
    assert isinstance(side.fit(IMAGES[:8], LABELS[:8], np.arange(8)), GramStack)
    blocks = side.compare(side.read(IMAGES[8:]))
    assert isinstance(blocks, BlockStack)
    np.testing.assert_allclose(np.array(blocks), listed, rtol=1e-6)


@pytest.mark.parametrize("kind", [GPClassifier, SparseGPClassifier])
@pytest.mark.parametrize("as_array", [False, True])
def test_grey_images_are_no_gram_matrices(kind, as_array):
    rng = np.random.default_rng(0)
    shades = np.repeat([40, 200], 6)
    grey = [np.clip(rng.normal(shade, 8, (24, 32)), 0, 255).astype(np.uint8) for shade in shades]
    images = np.stack(grey) if as_array else grey
    learner = kind(Colour(longest_side=32)).fit(images, shades)
    np.testing.assert_array_equal(learner.predict(images), shades)
    assert learner.predict_proba(images[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    "X", [np.zeros((20, 30, 3), np.uint8), ImageArray(np.zeros((20, 30, 3), np.uint8)), "photos/", None, 3]
)
def test_one_image_is_no_list_of_images(X):
    tiles = sample_set().select(range(0, 548, 60))
    learner = GPClassifier(Colour(longest_side=32)).fit(list(tiles.images), list(tiles.labels))
    for ask in (learner.predict, learner.unknown_score):
        with pytest.raises(InvalidInput, match="images: must be a list of paths, arrays or Image objects, got"):
            ask(X)
