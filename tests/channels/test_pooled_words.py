"""Channel `pooled_words`: the strongest share of each word in each cell."""

from dataclasses import replace

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import PooledWords, SpatialPmk

QUICK = {"n_words": 12, "n_descriptors": 500, "longest_side": 64}


def shares_of(channel, descriptors):
    """Of all words, from their definition."""
    squares = ((descriptors[:, None].astype(np.float64) - channel.codebook_.words) ** 2).sum(axis=2)
    closeness = np.exp(-5 * (squares - squares.min(axis=1, keepdims=True)) / channel.reach_)
    closeness[squares > np.sort(squares, axis=1)[:, 4:5]] = 0
    return closeness / closeness.sum(axis=1, keepdims=True)


def test_a_row_has_the_largest_share_of_every_word_in_every_cell(tiles):
    channel = PooledWords(**QUICK).fit(tiles.images[:4])
    (features,) = channel.local_features(tiles.images[5:6])
    row = channel.encode(tiles.images[5:6]).matrix.toarray()[0]
    shares, x = shares_of(channel, features.descriptors), features.locations
    top_right = (x[:, 0] >= 0.5) & (x[:, 1] < 0.5)
    expected = np.concatenate([shares.max(axis=0), shares[top_right].max(axis=0)])
    found = np.concatenate([row[:12], row[24:36]])  # the whole image; its second quarter
    np.testing.assert_allclose(found / found.max(), expected / expected.max(), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(row), 1)


def test_how_often_a_structure_is_there_does_not_count(tiles):
    channel = PooledWords(**QUICK).fit(tiles.images[:4])
    (features,) = channel.local_features(tiles.images[5:6])
    often = np.concatenate([np.arange(len(features)), np.zeros(50, int), [3, 3, 3]])
    many = replace(features, descriptors=features.descriptors[often], locations=features.locations[often])
    for part in ("columns", "values"):
        np.testing.assert_allclose(channel._encode(many)[part], channel._encode(features)[part], atol=1e-4)


def test_the_reach_is_the_mean_squared_distance_of_a_descriptor_to_its_word(tiles):
    channel = PooledWords(**QUICK).fit(tiles.images[:4])
    descriptors = np.concatenate([each.descriptors for each in channel.local_features(tiles.images[:4])])
    squares = ((descriptors[:, None].astype(np.float64) - channel.codebook_.words) ** 2).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(channel.reach_, squares.mean(), rtol=0.2)  # it was learned from a sample


def test_its_local_features_are_those_of_spatial_pmk():
    """So that whoever uses both describes every image once."""
    assert PooledWords()._feature_recipe() == SpatialPmk()._feature_recipe()


@pytest.mark.parametrize("reach", [0.0, -1.0, float("nan"), "much"])
def test_an_edited_reach_is_refused(tiles, reach):
    state = PooledWords(**QUICK).fit(tiles.images[:2]).state()
    header = {**state.header, "learned": {**state.header["learned"], "reach": reach}}
    with pytest.raises(InvalidInput, match="reach must be"):
        PooledWords.from_state(State(header, state.arrays))
