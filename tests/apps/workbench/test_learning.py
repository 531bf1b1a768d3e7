"""From labelled images to a model: what is said about it, and what is not enough."""

from __future__ import annotations

from collections import Counter
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from example_parts.unlabelled_channel import CentredColour

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import LocalFeatures
from fewsight.apps.workbench import learn
from fewsight.channels import Colour, SpatialPmk
from fewsight.images import FeatureCache, Image, ImageFile, ImageSet, sample_set
from fewsight.learners import SparseGPClassifier
from fewsight.learners.histograms import input as histogram_input

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


@pytest.mark.parametrize(("each", "looks"), [(1, True), (3, False)])
def test_with_one_label_of_each_category_others_show_how_sure_to_be(each: int, looks: bool) -> None:
    """Of the images without a label as many are described as are looked at."""
    whole = sample_set()
    places = [np.flatnonzero(whole.labels == name)[:9] for name in ("brick", "grass", "retina")]
    labelled = {int(place) for part in places for place in part[:each]}
    chosen = np.concatenate(places)
    labels = [str(whole.labels[place]) if int(place) in labelled else None for place in chosen]
    beside = learn(ImageSet(whole.select(chosen).images, labels), [Colour()], learner="gp")
    alone = learn(whole.select(np.array(sorted(labelled))), [Colour()], learner="gp")
    assert beside.counts == alone.counts == dict.fromkeys(("brick", "grass", "retina"), each)
    assert len(beside.images) == (27 if looks else 3 * each)
    assert (beside.model.calibration_ != alone.model.calibration_) == looks


def test_one_category_is_not_enough(tiles: ImageSet) -> None:
    with pytest.raises(InvalidInput, match="needs readable images of at least two categories, found only 'brick'"):
        learn(tiles.select(range(6)), [Colour()])


def test_where_files_are_the_reason_for_too_few_categories_one_is_named(tiles: ImageSet, tmp_path: Path) -> None:
    there = tiles.images[:2]
    some = ImageSet([*there, ImageFile(tmp_path / "gone.png"), ImageFile(tmp_path / "away.png")], ["a", "a", "b", "b"])
    sentence = r"found only 'a'; could not use 2 files, the first of them .*gone\.png \(no such file\)\.$"
    with pytest.raises(InvalidInput, match=sentence):
        learn(some, [Colour()])
    with pytest.raises(InvalidInput, match=r"found only 'a'; could not use 1 file .*gone\.png \(no such file\)\.$"):
        learn(some.select(range(3)), [Colour()])


def test_images_without_a_label_reach_a_channel_that_learns_from_them(tiles: ImageSet) -> None:
    labels = [label if i % 3 else None for i, label in enumerate(tiles.labels)]
    learned = learn(ImageSet(tiles.images, labels), [CentredColour(), Colour()])
    assert learned.counts == {"brick": 4, "grass": 4, "retina": 4}
    assert len(learned.images) == 18
    first, _ = learned.model.channels
    assert first.learned_.header == {"images": 18, "labelled": 12}


def test_images_of_none_of_these_are_learned_as_outsiders(tiles: ImageSet) -> None:
    inside = tiles.select(range(12))
    inside.outsiders = tiles.images[12:]
    with_them, without = (
        learn(inside, [Colour()], learner="gp"),
        learn(tiles.select(range(12)), [Colour()], learner="gp"),
    )
    assert (with_them.n_outsiders, without.n_outsiders) == (6, 0)
    assert with_them.counts == without.counts == {"brick": 6, "grass": 6}
    assert list(with_them.model.classes_) == ["brick", "grass"]
    strange = [model.assess(tiles.images[12:]).unknown.mean() for model in (with_them.model, without.model)]
    assert strange[0] >= strange[1]
    left_out = learn(inside, [Colour()], learner="nn")
    assert left_out.n_outsiders == 0
    assert "Left out 6 images of none of these: nn cannot learn from them." in left_out.remarks


def test_a_label_that_looks_wrong_is_named(tiles: ImageSet) -> None:
    assert learn(tiles, [Colour()], learner="gp").doubts == ()
    labels = tiles.labels.copy()
    labels[0] = "retina"
    doubt = learn(ImageSet(tiles.images, labels), [Colour()], learner="gp").doubts[0]
    assert (doubt.image, doubt.category, doubt.guess) == (tiles.images[0].name, "retina", "brick")
    assert doubt.probability < 0.05


@pytest.mark.parametrize("learner", ["sparse_gp", "histogram_gp"])
def test_with_a_cache_a_tenth_of_the_sets_size_every_image_is_described_once(
    learner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiles, described = sample_set().select(range(0, 548, 9)), Counter[str]()
    describe = SpatialPmk._describe

    def counted(channel: SpatialPmk, image: Image) -> LocalFeatures:
        described[image.name] += 1
        return describe(channel, image)

    monkeypatch.setattr(SpatialPmk, "_describe", counted)
    monkeypatch.setattr(histogram_input, "FITTED_ON", 3)
    monkeypatch.setattr(SparseGPClassifier, "__init__", partialmethod(SparseGPClassifier.__init__, n_inducing=3))
    whole = FeatureCache(tmp_path / "whole")
    channel = SpatialPmk(**SMALL | {"cache": whole})
    channel.prepare(tiles.images)
    assert set(described.values()) == {1}
    described.clear()
    small = FeatureCache(tmp_path / "small", max_bytes=whole.size() // 10)
    learned = learn(tiles, [SpatialPmk(**SMALL | {"cache": small})], learner=learner, combine=None)
    assert sum(learned.counts.values()) == len(tiles) == len(described)
    assert set(described.values()) == {1}
    assert small.size() < whole.size() / 8


def test_an_image_that_opens_and_cannot_be_described_is_left_out_by_a_learner_for_many(
    tiles: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = Colour._describe

    def refusing(channel: Colour, image: Image) -> LocalFeatures:
        if image is tiles.images[4]:
            raise UnreadableImage(image.name, "no colours")
        return describe(channel, image)

    monkeypatch.setattr(Colour, "_describe", refusing)
    learned = learn(tiles, [Colour()], learner="sparse_gp")
    assert learned.counts == {"brick": 5, "grass": 6, "retina": 6}
    assert [each.reason for each in learned.images.unreadable] == ["no colours"]
