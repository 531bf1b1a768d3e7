"""What learners of kernel weights have in common: an input of the kernels that are kept."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import Colour, Texture
from fewsight.images import sample_set
from fewsight.kernels import RBF, Columns, Linear
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


def test_what_was_chosen_of_rows_is_one_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] > 0
    kernels = [Columns((0, 1), RBF()), Columns((2,), RBF()), Linear()]
    learner = MKLClassifier(kernels, norm="l2", C=10.0).fit(X, y)
    expected = sum(
        share * kernel.gram(X) / kernel.diag(X).mean()
        for share, kernel in zip(learner.shares(3), learner.input_.kernels, strict=True)
    )
    np.testing.assert_allclose(learner.chosen_kernel().gram(X), expected, rtol=1e-10)
    with pytest.raises(InvalidInput, match="only windows channels become one channel, got no channels"):
        learner.chosen_channel()
