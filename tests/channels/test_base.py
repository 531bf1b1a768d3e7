"""What the base class of channels owns: labels, keys of the cache, and what is said before anything is learned."""

import numpy as np
import pytest
from example_parts.set_channel import BlockSets

from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.channels import Colour, Phog, fit_channel
from fewsight.channels.base import as_images
from fewsight.images import FeatureCache


def test_classes_are_numbered_as_they_appear_and_none_is_minus_one():
    labels = ["owl", None, "robin", "owl", None]
    np.testing.assert_array_equal(Phog()._groups(labels, 5), [0, -1, 1, 0, -1])
    np.testing.assert_array_equal(Phog()._groups(np.array([7, 3, 7]), 3), [0, 1, 0])
    with pytest.raises(InvalidInput, match="Phog: images and labels must have the same length, got 4 and 5"):
        Phog()._groups(labels, 4)


def test_nothing_is_encoded_or_compared_before_anything_is_learned(tiles):
    with pytest.raises(FewsightError, match="Colour: call fit"):
        Colour().encode(tiles.images[:1])
    with pytest.raises(FewsightError, match="Colour: call fit"):
        _ = Colour().kernel


def test_the_kind_of_encodings_is_part_of_the_key_unless_it_is_the_first_there_was(tiles):
    image, channel = tiles.images[0], Colour().fit(tiles.images[:2])
    recipes = channel._feature_recipe(), channel._encode_recipe()
    assert channel._encoding_key(image) == FeatureCache.key_of("encoding", image.content_hash, *recipes)
    sets = BlockSets().fit(tiles.images[:2])
    recipes = sets._feature_recipe(), sets._encode_recipe()
    assert sets._encoding_key(image) != FeatureCache.key_of("encoding", image.content_hash, *recipes)


def test_a_channel_is_fitted_on_the_images_at_the_positions(tiles):
    some = np.array([0, 3, 5])
    fitted = fit_channel(Phog(longest_side=32), tiles.images, ["a", "b", "a"], some)
    assert fitted.scale_ == Phog(longest_side=32).fit([tiles.images[i] for i in some]).scale_


def test_options_and_what_was_learned_make_the_state(tiles):
    channel = Phog(longest_side=32, n_bins=5).fit(tiles.images[:3])
    header = channel.state().header
    assert header["name"] == "phog"
    assert header["options"]["n_bins"] == 5
    assert header["learned"] == {"scale": channel.scale_}
    assert Phog.from_state(channel.state()).get_params() == channel.get_params()


def test_one_name_is_not_taken_for_a_list_of_names() -> None:
    with pytest.raises(InvalidInput, match=r"images: must be a list of paths, arrays or Image objects, got 'one\.jpg'"):
        as_images("one.jpg")
