"""What the channels on dense SIFT share."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import DensePmk, OpponentSift, SpatialPmk, VocabularyPmk
from fewsight.images import FeatureCache

QUICK = {"n_descriptors": 500, "longest_side": 64}
KINDS = (SpatialPmk, DensePmk, VocabularyPmk)


def test_they_read_the_same_cached_features(tiles, tmp_path):
    images, cache = tiles.images[:2], FeatureCache(tmp_path)
    first = SpatialPmk(longest_side=48, cache=cache).local_features(images)
    for kind in KINDS[1:]:
        other = kind(longest_side=48, cache=cache)
        other._describe = None  # from here on nothing may be described
        for one, again in zip(first, other.local_features(images), strict=True):
            np.testing.assert_array_equal(one.descriptors, again.descriptors)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{"step": 0.5, "longest_side": 5_000}, {"patch": 1_000, "step": 0.5}, {"scales": (0.1,), "longest_side": 600}],
)
def test_options_that_together_ask_for_too_much_are_refused_before_any_work(kind, options):
    with pytest.raises(
        InvalidInput, match=f"{kind.__name__}: step, patch, scales and longest_side must together ask for"
    ):
        kind(**options).check()


def test_rows_are_as_long_as_words_times_cells(tiles):
    for channel, n_words in ((SpatialPmk(n_words=12, **QUICK), 12), (OpponentSift(n_trees=2, n_leaves=8, **QUICK), 16)):
        fitted = channel.fit(tiles.images[:3])
        assert fitted.n_columns == fitted.encode(tiles.images[:1]).shape[1] == 21 * n_words


def test_the_sample_of_an_image_is_some_of_its_descriptors(tiles):
    channel = SpatialPmk(n_words=12, **QUICK)
    (features,) = channel.local_features(tiles.images[:1])
    sample = channel._sample(features, 50, np.random.default_rng(0))
    assert sample.shape == (10, 128)
    known = {row.tobytes() for row in features.descriptors}
    assert all(row.tobytes() in known for row in sample)
