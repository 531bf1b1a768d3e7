"""From labelled images to a model: what is said about it, and what is not enough."""

from __future__ import annotations

import numpy as np
import pytest
from example_parts.unlabelled_channel import CentredColour

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench import learn
from fewsight.channels import Colour, SpatialPmk
from fewsight.images import ImageSet, sample_set

SMALL = {"n_words": 16, "n_levels": 1, "n_descriptors": 500, "longest_side": 48}


@pytest.fixture(scope="module")
def tiles() -> ImageSet:
    whole = sample_set()
    chosen = [np.flatnonzero(whole.labels == name)[:6] for name in ("brick", "grass", "retina")]
    return whole.select(np.concatenate(chosen))


def test_shares_are_named_the_largest_first_and_add_up_to_one(tiles: ImageSet) -> None:
    learned = learn(tiles, [SpatialPmk(**SMALL), Colour()])
    assert set(learned.shares) == {"spatial_pmk", "colour"}
    assert list(learned.shares.values()) == sorted(learned.shares.values(), reverse=True)
    assert sum(learned.shares.values()) == pytest.approx(1.0)
    assert learned.combine == "evidence"


def test_a_learner_that_learns_no_weights_averages(tiles: ImageSet) -> None:
    learned = learn(tiles, [SpatialPmk(**SMALL), Colour()], learner="nn")
    assert learned.shares == {"spatial_pmk": 0.5, "colour": 0.5}
    assert learned.combine == "average"
    assert learned.left_out is None


def test_the_accuracy_is_the_mean_over_categories_of_left_out_images(tiles: ImageSet) -> None:
    learned = learn(tiles, [Colour()], learner="gp")
    model = learned.model
    right = model.classes_[model.leave_one_out().mean.argmax(axis=1)] == np.sort(tiles.labels.astype(str))
    assert learned.left_out is not None
    assert learned.left_out.accuracy == pytest.approx(right.mean())  # six of each
    assert learned.left_out.which == "the images when each is left out"


def test_images_without_a_label_take_no_part(tiles: ImageSet) -> None:
    labels = [*tiles.labels[:-1], None]
    assert learn(ImageSet(tiles.images, labels), [Colour()]).counts == {"brick": 6, "grass": 6, "retina": 5}


def test_one_category_is_not_enough(tiles: ImageSet) -> None:
    with pytest.raises(InvalidInput, match="needs readable images of at least two categories, found only 'brick'"):
        learn(tiles.select(range(6)), [Colour()])


def test_images_without_a_label_reach_a_channel_that_learns_from_them(tiles: ImageSet) -> None:
    labels = [label if i % 3 else None for i, label in enumerate(tiles.labels)]
    learned = learn(ImageSet(tiles.images, labels), [CentredColour(), Colour()])
    assert learned.counts == {"brick": 4, "grass": 4, "retina": 4}
    assert len(learned.images) == 18
    first, _ = learned.model.channels
    assert first.learned_.header == {"images": 18, "labelled": 12}
