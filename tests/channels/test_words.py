"""What the channels on visual words share."""

import numpy as np

from fewsight.channels import OpponentSift, SpatialPmk

QUICK = {"n_descriptors": 500, "longest_side": 64}


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
