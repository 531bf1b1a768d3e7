"""Channel `spatial_pmk`: visual words in a spatial pyramid."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import SpatialPmk

QUICK = {"n_words": 12, "n_descriptors": 500, "longest_side": 64}


def test_a_row_counts_the_words_of_every_cell(tiles):
    channel = SpatialPmk(**QUICK).fit(tiles.images[:4])
    (features,) = channel.local_features(tiles.images[:1])
    words = channel.codebook_.assign(features.descriptors)
    whole = channel.encode(tiles.images[:1]).matrix.toarray()[0, :12]  # the first cell is the whole image
    counts = np.bincount(words, minlength=12)
    np.testing.assert_allclose(whole / whole.sum(), counts / counts.sum(), rtol=1e-12)


def test_an_edited_codebook_is_refused_in_one_sentence(tiles):
    state = SpatialPmk(**QUICK).fit(tiles.images[:2]).state()
    narrow = {**state.arrays, "learned/words": state.arrays["learned/words"][:, :64].copy()}
    with pytest.raises(InvalidInput, match="SpatialPmk: a codebook of SIFT words has 128 columns, got 64"):
        SpatialPmk.from_state(State(state.header, narrow))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_words": 0}, "n_words must be a whole number from 1 to 50,000, got 0"),
        ({"n_descriptors": 0}, "n_descriptors must be a whole number >= 1, got 0"),
        ({"n_levels": 0}, "n_levels must be"),
    ],
)
def test_bad_options_are_refused_before_any_image_is_read(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        SpatialPmk(**options).check()
