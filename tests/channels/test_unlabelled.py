"""Images without a label reach the channels that learn from them, and no others."""

from typing import ClassVar

import numpy as np
import pytest
from example_parts.unlabelled_channel import CentredColour

from fewsight import register
from fewsight._base.errors import FewsightError
from fewsight.channels import CHANNELS, OpponentSift, Phog, SpatialPmk, fit_channel
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import FeatureCache, ImageSet, sample_set
from fewsight.learners import GPClassifier, HistogramGPClassifier
from fewsight.persistence import load, save


@pytest.fixture(scope="module")
def tiles() -> ImageSet:
    tiles = sample_set()
    return tiles.select([i for i in range(len(tiles)) if tiles.labels[i] in tiles.classes[:3]][::4])


def half_labelled(tiles):
    labels = np.array(tiles.labels, dtype=object)
    labels[1::2] = None
    return labels


def test_a_channel_that_asks_is_given_all_images(tiles):
    labels = half_labelled(tiles)
    learner = GPClassifier(CentredColour()).fit(tiles.images, labels)
    (channel,) = learner.channels
    assert channel.learned_.header == {"images": len(tiles), "labelled": len(tiles) - len(tiles) // 2}
    expected = np.mean([image.pixels(32).reshape(-1, 3).mean(axis=0) for image in tiles.images], axis=0)
    np.testing.assert_allclose(channel.mean_, expected, rtol=1e-6)
    assert learner.input_.n_training == channel.learned_.header["labelled"]


def test_the_order_of_labels_is_kept(tiles):
    given = []

    class Watching(CentredColour):
        def fit(self, images, labels=None):
            given.append((list(images), list(labels)))
            return super().fit(images, labels)

    labels = half_labelled(tiles)
    GPClassifier(Watching()).fit(tiles.images, labels)
    ((images, seen),) = given
    assert images == list(tiles.images)
    assert seen == labels.tolist()


@pytest.mark.parametrize(
    "channel",
    [
        SpatialPmk(n_words=20, n_descriptors=1_000, longest_side=64),
        OpponentSift(n_trees=2, n_leaves=10, supervised=True, n_descriptors=1_000, longest_side=64),
        Phog(longest_side=64),
    ],
    ids=lambda channel: channel.name,
)
def test_for_channels_that_do_not_ask_nothing_changes(channel, tiles):
    labels, labelled = half_labelled(tiles), np.arange(0, len(tiles), 2)
    with_others = GPClassifier(channel).fit(tiles.images, labels)
    without = GPClassifier(channel).fit([tiles.images[i] for i in labelled], labels[labelled].tolist())
    assert with_others.channels[0].state().header == without.channels[0].state().header
    np.testing.assert_array_equal(with_others.latent(tiles.images).mean, without.latent(tiles.images).mean)


def test_the_learner_of_rows_gives_them_too(tiles):
    class Words(SpatialPmk):
        learns_from_unlabelled = True
        seen: ClassVar[list] = []

        def fit(self, images, labels=None):
            self.seen.append((len(images), sum(label is not None for label in labels)))
            return super().fit(images, labels)

    channel = Words(n_words=20, n_descriptors=1_000, longest_side=64)
    HistogramGPClassifier(channel).fit(tiles.images, half_labelled(tiles))
    assert Words.seen == [(len(tiles), len(tiles) - len(tiles) // 2)]


def test_all_images_labelled_is_the_same_as_before(tiles):
    labels = np.array(tiles.labels.tolist())
    plain = CentredColour().fit(tiles.images, labels)
    given = fit_channel(CentredColour(), tiles.images, labels, np.arange(len(tiles)))
    np.testing.assert_array_equal(given.mean_, plain.mean_)


def test_what_was_learned_without_labels_is_stored_and_cached(monkeypatch, tiles, tmp_path):
    monkeypatch.setattr(CHANNELS, "_others", {})
    register(CentredColour)
    channel = CentredColour(cache=FeatureCache(tmp_path / "cache"))
    first, second = (GPClassifier(channel).fit(tiles.images, half_labelled(tiles)) for _ in range(2))
    np.testing.assert_array_equal(second.latent(tiles.images).mean, first.latent(tiles.images).mean)
    save(first, tmp_path / "model.fewsight")
    np.testing.assert_allclose(
        load(tmp_path / "model.fewsight").latent(tiles.images).mean, first.latent(tiles.images).mean, atol=1e-12
    )


def test_an_evaluation_gives_images_that_are_never_tested(tiles):
    class Watching(CentredColour):
        seen: ClassVar[list] = []

        def fit(self, images, labels=None):
            self.seen.append({image.content_hash: label for image, label in zip(images, labels, strict=True)})
            return super().fit(images, labels)

    protocol = Protocol(per_class=(1, 2), test_per_class=2, repeats=2, unlabelled=4)
    found = evaluate(tiles, protocol, {"watching": Watching()}, {"gp": GPClassifier()})
    assert len(Watching.seen) == len(found.outcomes) == 4
    hashes = [image.content_hash for image in tiles.images]
    for seen, outcome in zip(Watching.seen, found.outcomes, strict=True):
        assert list(seen.values()).count(None) == 4
        assert not set(seen) & {hashes[i] for i in outcome.test}
        assert {hashes[i] for i in outcome.train} == {name for name, label in seen.items() if label is not None}
    assert found.protocol.settings()["unlabelled"] == 4


def test_drawing_them_in_vain_is_refused(tiles):
    protocol = Protocol(per_class=(1,), test_per_class=2, repeats=1, unlabelled=4)
    with pytest.raises(FewsightError, match="need a channel or a learner that learns from them, got phog and gp"):
        evaluate(tiles, protocol, {"phog": Phog()}, {"gp": GPClassifier()})
