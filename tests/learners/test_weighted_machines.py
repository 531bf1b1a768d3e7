"""What learners of kernel weights have in common: an input of the kernels that are kept."""

import numpy as np
import pytest

from fewsight.channels import Colour, Texture
from fewsight.images import sample_set
from fewsight.learners import InfiniteKernelClassifier, MKLClassifier


@pytest.mark.parametrize("kind", [MKLClassifier, InfiniteKernelClassifier])
def test_channels_without_weight_are_forgotten(kind):
    tiles = sample_set()
    chosen = [i for i, label in enumerate(tiles.labels) if label in tiles.classes[:2]][:40]
    images, labels = [tiles.images[i] for i in chosen], [tiles.labels[i] for i in chosen]
    channels = [Colour(longest_side=64), Texture(longest_side=64)]
    learner = kind(channels, C=1.0).fit(images, labels)
    assert len(learner.channels) == learner.weights_.shape[1] == len(learner.chosen_)
    assert [channel.name for channel in learner.channels] == [channels[number].name for number in learner.chosen_]
    assert learner.score(images, labels) > 0.9
    assert np.isclose(learner.shares(len(learner.channels)).sum(), 1)
