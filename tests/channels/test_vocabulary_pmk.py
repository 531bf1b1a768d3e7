"""The channel with bins that follow the data: what the contract of all channels does not ask."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import VocabularyPmk
from fewsight.images import as_image

IMAGES = [as_image(np.random.default_rng(seed).random((48, 48, 3), dtype=np.float32)) for seed in range(3)]


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("branching", 1, "a whole number from 2 to 10,000"),
        ("branching", 2.5, "a whole number from 2 to 10,000"),
        ("branching", 10**9, "a whole number from 2 to 10,000"),
        ("n_levels", 0, "a whole number from 1 to 30"),
        ("n_levels", "4", "a whole number from 1 to 30"),
        ("n_levels", 31, "a whole number from 1 to 30"),
    ],
)
def test_an_impossible_tree_is_refused_before_any_work(option, value, wanted):
    with pytest.raises(InvalidInput, match=f"VocabularyPmk: {option} must be {wanted}"):
        VocabularyPmk(**{option: value}).fit(["no such file.jpg"])


def test_one_level_makes_all_images_alike_and_more_tell_them_apart():
    for n_levels, alike in ((1, True), (3, False)):
        channel = VocabularyPmk(n_levels=n_levels, branching=4).fit(IMAGES)
        K = channel.gram(channel.encode(IMAGES))
        np.testing.assert_allclose(np.diag(K), 1)
        assert bool((K > 0.999).all()) is alike
