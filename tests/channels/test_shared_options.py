"""Options that several kinds of channels have."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import DensePmk, HarrisPmk, Phog, Pretrained, SpatialPmk
from fewsight.channels.shared_options import DescriptorSample, PyramidLevels, WorkingResolution


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
