"""Channels on pixels describe them at the working resolution, and keep the aspect of the image."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import CHANNELS, DensePmk, HarrisPmk, Phog, Pretrained, SpatialPmk
from fewsight.channels.pixel_channel import DescriptorSample, PixelChannel, PyramidLevels, WorkingResolution
from fewsight.images import FeatureCache, as_image

CHOSEN = {name: kind for name, kind in CHANNELS.items() if issubclass(kind, PixelChannel)}


def test_all_classic_channels_look_at_pixels():
    grey = {name for name in CHANNELS if name.startswith("fisher_")}  # these at one width, enlarged if need be
    assert set(CHANNELS) - set(CHOSEN) - grey == {"pretrained", "embedding", "vectors"}


@pytest.mark.parametrize("kind", CHOSEN.values(), ids=list(CHOSEN))
def test_local_features_know_the_aspect_of_the_image(kind, tmp_path):
    image = as_image(np.random.default_rng(0).random((60, 90, 3), dtype=np.float32))
    channel = kind(longest_side=45, cache=FeatureCache(tmp_path))
    for _ in range(2):  # the second time from the cache
        (features,) = channel.local_features([image])
        assert features.aspect == 1.5


def test_the_working_resolution_has_one_default_and_its_limits():
    assert {kind().longest_side for kind in (DensePmk, HarrisPmk, Phog, SpatialPmk)} == {300}
    assert Pretrained().longest_side == 480
    for side in (15, 5_001, 20.0, True):
        with pytest.raises(InvalidInput, match="longest_side must be a whole number from 16 to 5,000"):
            _ = WorkingResolution(longest_side=side)._working_side


def test_every_image_contributes_its_share_of_descriptors_and_at_least_one():
    rng = np.random.default_rng(0)
    drawn = DescriptorSample(n_descriptors=100)._drawn(50, 10, rng)
    assert len(drawn) == 10
    assert (np.diff(drawn) > 0).all()
    assert len(DescriptorSample(n_descriptors=100)._drawn(5, 10, rng)) == 5
    assert len(DescriptorSample(n_descriptors=1)._drawn(5, 10, rng)) == 1


def test_a_channel_may_have_more_levels_than_the_others():
    assert PyramidLevels().n_levels == SpatialPmk().n_levels == 3
    assert Phog().n_levels == 4
