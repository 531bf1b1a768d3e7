"""What the pyramid-match channels share: points of few dimensions, and cubes to match them in."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import DensePmk, HarrisPmk, VocabularyPmk

QUICK = {"n_descriptors": 500, "longest_side": 64}


@pytest.mark.parametrize("kind", [DensePmk, VocabularyPmk, HarrisPmk])
def test_a_sample_keeps_locations_behind_the_descriptors(kind, tiles):
    channel = kind(**QUICK)
    (features,) = channel.local_features(tiles.images[:1])
    sample = channel._sample(features, 100, np.random.default_rng(0))
    assert sample.shape == (5, 130)
    rows = np.hstack([features.descriptors.astype(np.float32), features.locations])
    known = {row.tobytes() for row in rows}
    assert all(row.tobytes() in known for row in sample)


def test_without_position_points_have_the_dimensions_of_the_projection(tiles):
    for position, width in ((0.0, 4), (3.0, 6)):
        channel = DensePmk(n_components=4, position=position, **QUICK).fit(tiles.images[:3])
        (features,) = channel.local_features(tiles.images[:1])
        assert channel.projection_.points(features).shape == (len(features), width)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 0}, "n_components must be a whole number >= 1, got 0"),
        ({"position": -1}, "position must be a number from 0 to 1e"),
        ({"finest": 0}, "finest must be"),
        ({"n_levels": 0}, "n_levels must be"),
        ({"normalise": "smaller"}, "normalise must be one of 'size', 'self', 'count', got 'smaller'"),
    ],
)
def test_bad_options_are_refused_before_any_image_is_read(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        DensePmk(**options).check()


@pytest.mark.parametrize("kind", [DensePmk, VocabularyPmk, HarrisPmk])
def test_the_ways_of_dividing_agree_with_each_other(kind, tiles):
    """The match by self-similarities is the count, divided; rows that are divided sum to one."""
    images = tiles.images[:6]
    grams, rows = {}, {}
    for way in ("size", "self", "count"):
        channel = kind(normalise=way, **QUICK).fit(images)
        rows[way] = channel.encode(images)
        grams[way] = channel.gram(rows[way])
    np.testing.assert_allclose(np.diag(grams["size"]), 1.0)
    np.testing.assert_allclose(np.diag(grams["self"]), 1.0)
    own = np.sqrt(np.diag(grams["count"]))
    np.testing.assert_allclose(grams["self"], grams["count"] / np.outer(own, own), atol=1e-12)
    assert np.diag(grams["count"]).min() > 1


@pytest.mark.parametrize("kind", [DensePmk, VocabularyPmk, HarrisPmk])
def test_a_state_from_before_there_was_a_choice_divides_by_the_number_of_features(kind, tiles):
    images = tiles.images[:4]
    channel = kind(normalise="size", **QUICK).fit(images)
    state = channel.state()
    options = {name: value for name, value in state.header["options"].items() if name != "normalise"}
    again = kind.from_state(State({**state.header, "options": options}, state.arrays))
    assert again.normalise == "size"
    np.testing.assert_array_equal(again.gram(again.encode(images)), channel.gram(channel.encode(images)))
