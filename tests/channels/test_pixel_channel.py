"""Channels on pixels describe them at the working resolution, and keep the aspect of the image."""

import numpy as np
import pytest

from fewsight.channels import CHANNELS
from fewsight.channels.pixel_channel import PixelChannel
from fewsight.images import FeatureCache, as_image

CHOSEN = {name: kind for name, kind in CHANNELS.items() if issubclass(kind, PixelChannel)}


def test_all_classic_channels_look_at_pixels():
    assert set(CHANNELS) - set(CHOSEN) == {"pretrained", "embedding", "vectors"}


@pytest.mark.parametrize("kind", CHOSEN.values(), ids=list(CHOSEN))
def test_local_features_know_the_aspect_of_the_image(kind, tmp_path):
    image = as_image(np.random.default_rng(0).random((60, 90, 3), dtype=np.float32))
    channel = kind(longest_side=45, cache=FeatureCache(tmp_path))
    for _ in range(2):  # the second time from the cache
        (features,) = channel.local_features([image])
        assert features.aspect == 1.5
