"""What the pyramid-match channels share: points of few dimensions, and cubes to match them in."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
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
    ],
)
def test_bad_options_are_refused_before_any_image_is_read(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        DensePmk(**options).check()
