"""The channel on Harris-Affine points: what the contract of all channels does not ask."""

import json

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels.harris_pmk import HarrisPmk
from fewsight.features import HarrisAffine
from fewsight.images import FeatureCache, as_image, draw_split, sample_set
from fewsight.learners import GPClassifier

BLANK = as_image(np.full((48, 48, 3), 0.5, np.float32))


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return [tiles.images[index] for index in range(0, len(tiles), len(tiles) // 10)][:10]


def test_a_blank_image_is_similar_to_blank_ones_only_and_changes_no_other_row(tiles):
    alone, together = HarrisPmk().fit(tiles), HarrisPmk().fit([*tiles, BLANK])
    A = together.encode([*tiles, BLANK, BLANK])
    np.testing.assert_allclose(A.matrix.sum(axis=1), 1, rtol=1e-12)
    assert (A.take(np.arange(len(tiles))).matrix != alone.encode(tiles).matrix).nnz == 0
    K = together.gram(A)
    np.testing.assert_array_equal(K[-1], [0] * len(tiles) + [1, 1])


def test_a_channel_that_saw_only_blank_images_still_encodes_others(tiles):
    channel = HarrisPmk().fit([BLANK, BLANK])
    restored = HarrisPmk.from_state(channel.state())
    K = restored.gram(restored.encode([BLANK, *tiles]))
    assert np.isfinite(K).all()
    assert (np.diag(K) > 0).all()


def test_the_cache_keeps_an_image_without_points(tmp_path):
    channel = HarrisPmk(cache=FeatureCache(tmp_path)).fit([BLANK])
    channel._describe = None  # from here on nothing may be described
    (features,) = channel.local_features([BLANK])
    assert features.descriptors.shape == (0, 128)
    assert channel.encode([BLANK]).matrix.nnz == 1


@pytest.mark.slow
def test_a_blank_image_leaves_a_learner_as_uncertain_as_before_it_saw_any(tiles):
    learner = GPClassifier(kernel=HarrisPmk()).fit(tiles, ["first", "second"] * 5)
    blank, known = learner.latent([BLANK, tiles[0]]).std
    assert (blank > known).all()
    again = GPClassifier(kernel=HarrisPmk()).fit([*tiles, BLANK], [*["first", "second"] * 5, "second"])
    np.testing.assert_array_equal(again.predict([BLANK]), ["second"])


def test_it_tells_the_sample_textures_apart():
    """A texture is the same everywhere: the position does not help."""
    sample = sample_set()
    split = draw_split(sample.labels, per_class=5, test_per_class=3, seed=0)
    train, test = sample.select(split.train), sample.select(split.test)
    learner = GPClassifier(kernel=HarrisPmk(position=0.0)).fit(train.images, list(train.labels))
    right = np.mean(learner.predict(test.images) == test.labels.astype(str))
    assert right > 4 / len(sample.classes)


def test_its_points_are_those_of_the_detector(tiles):
    options = {"max_points": 40, "threshold": 2.0, "scales": "characteristic", "iterations": 2, "extent": 12.0}
    (features,) = HarrisPmk(**options, longest_side=48).local_features(tiles[:1])
    expected = HarrisAffine(**options).describe(tiles[0].pixels(48))
    np.testing.assert_array_equal(features.descriptors, expected.descriptors)
    np.testing.assert_array_equal(features.locations, expected.locations)


def test_every_option_of_the_features_enters_their_recipe():
    other = {
        "max_points": 9,
        "threshold": 3.0,
        "scales": "characteristic",
        "iterations": 1,
        "max_stretch": 2.0,
        "extent": 10.0,
        "longest_side": 64,
    }
    recipes = [HarrisPmk(), *(HarrisPmk(**{name: value}) for name, value in other.items())]
    assert len({json.dumps(channel._feature_recipe()) for channel in recipes}) == 1 + len(other)


def test_bad_options_are_refused_in_one_sentence(tiles):
    with pytest.raises(InvalidInput, match="HarrisAffine: max_points must be a whole number from 1 to 30,000, got 0"):
        HarrisPmk(max_points=0).fit(tiles)
    with pytest.raises(InvalidInput, match="HarrisPmk: longest_side must be a whole number from 16 to 5,000, got 3"):
        HarrisPmk(longest_side=3).fit(tiles)
