"""How much channels count before anything is learned about them."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.channels import Colour, Phog, Pretrained, Vectors, prior_shares
from fewsight.learners import GPClassifier


def test_before_anything_is_learned_informed_channels_count_most():
    np.testing.assert_allclose(prior_shares([Pretrained(), Phog(), Colour()]), [0.9, 0.05, 0.05])
    np.testing.assert_allclose(prior_shares([Phog(), Pretrained(), Vectors()]), [0.1, 0.45, 0.45])
    np.testing.assert_allclose(prior_shares([Phog(), Colour()]), [0.5, 0.5])
    np.testing.assert_allclose(prior_shares([Pretrained()]), [1.0])


def test_with_one_image_per_category_the_prior_decides(tiles, table):
    channels = [Vectors(table), Colour(longest_side=64)]
    images, labels = tiles.images[:6], list("abcdef")
    gp = GPClassifier(channels, weights="evidence").fit(images, labels)
    np.testing.assert_allclose(gp.weights_, [0.9, 0.1])
    given = GPClassifier(channels, weights="evidence", prior_weights=[1, 3]).fit(images, labels)
    np.testing.assert_allclose(given.weights_, [0.25, 0.75])
    with pytest.raises(FewsightError, match="weights must be >= 0 and not all zero"):
        GPClassifier(channels, weights="evidence", prior_weights=[-1, 3]).fit(images, labels)
