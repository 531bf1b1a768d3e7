"""A channel of somebody else, whose kernel compares sets of descriptors, works wherever the others do."""

import numpy as np
import pytest
from example_parts.set_channel import BlockSets

from fewsight import register
from fewsight._base.encodings import DescriptorSets
from fewsight._base.errors import FewsightError
from fewsight._base.types import LocalFeatures
from fewsight.active import ActiveLearner
from fewsight.active.pools import ImagePool
from fewsight.channels import CHANNELS, Colour
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import FeatureCache, ImageSet, sample_set
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier
from fewsight.persistence import load, save


@pytest.fixture(scope="module")
def tiles() -> ImageSet:
    tiles = sample_set()
    return tiles.select([i for i in range(len(tiles)) if tiles.labels[i] in tiles.classes[:3]][::4])


@pytest.fixture
def known(monkeypatch):
    """The channel is registered, for one test."""
    monkeypatch.setattr(CHANNELS, "_others", {})
    register(BlockSets)


def labels_of(tiles):
    return np.array(tiles.labels.tolist())


def test_its_kernel_is_one(tiles):
    narrow = np.zeros((40, 10, 3), np.float32)
    channel = BlockSets().fit(tiles.images)
    A = channel.encode([*tiles.images, narrow])
    assert isinstance(A, DescriptorSets)
    assert set(A.counts.tolist()) == {16, 4}  # sets need not be of one size
    K = channel.gram(A)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(channel.distances(A, A).diagonal(), 0, atol=1e-6)
    np.testing.assert_allclose(channel.against(A).gram(A.take(np.array([1, 0]))), K[[1, 0]], rtol=1e-12)


@pytest.mark.parametrize("learner", [GPClassifier, SVMClassifier])
def test_a_learner_is_fitted_and_asked_as_with_its_gram_matrix(learner, tiles):
    labels, new = labels_of(tiles)[::2], tiles.images[1::2]
    fitted = learner(BlockSets()).fit(tiles.images[::2], labels)
    channel = fitted.channels[0]
    A, B = channel.encode(tiles.images[::2]), channel.encode(new)
    plain = learner("precomputed").fit(channel.gram(A), labels)
    np.testing.assert_allclose(fitted.latent(new).mean, plain.latent(channel.gram(B, A)).mean, atol=1e-8)


def test_examples_are_added_removed_and_stored(known, tiles, tmp_path):
    images, labels = tiles.images, labels_of(tiles)
    images, labels, half = [*images[::2], *images[1::2]], [*labels[::2], *labels[1::2]], len(images[::2])
    fixed = {"weights": "average", "noise_variance": 0.1}
    learner = GPClassifier([BlockSets(), Colour()], **fixed).fit(images[:half], labels[:half])
    before = learner.latent(images).mean
    learner.add(images[half:], labels[half:])
    assert learner.input_.n_training == len(images)
    assert np.abs(learner.latent(images).mean - before).max() > 0.01
    save(learner, tmp_path / "model.fewsight")
    again = load(tmp_path / "model.fewsight")
    np.testing.assert_allclose(again.latent(images).mean, learner.latent(images).mean, atol=1e-12)
    again.remove(np.arange(half, len(images)))
    np.testing.assert_allclose(again.latent(images).mean, before, atol=1e-8)


def test_a_model_file_with_edited_sets_is_refused(known, tiles):
    state = GPClassifier(BlockSets()).fit(tiles.images, labels_of(tiles)).state()
    state.arrays["input/training0/starts"] = state.arrays["input/training0/starts"][::-1].copy()
    with pytest.raises(FewsightError, match="starts must ascend"):
        GPClassifier.from_state(state)


def test_a_pool_of_them_can_be_asked_about(tiles):
    pool = ImagePool(tiles.images, [BlockSets(), Colour()])
    some = np.array([0, 5, 3])
    for rows, (channel, encodings) in zip(
        pool.parts(some), zip(pool.channels, pool.encodings, strict=True), strict=True
    ):
        np.testing.assert_allclose(rows, channel.gram(encodings)[some], rtol=1e-10)
    asking = ActiveLearner(GPClassifier([BlockSets(), Colour()])).fit(tiles.images)
    for _ in range(9):
        (position,) = asking.query().indices
        asking.teach([position], [tiles.labels[position]])
    assert len(asking.predict()) == len(tiles)
    assert asking.learner_.predict(tiles.images[:2]).shape == (2,)


def test_it_is_evaluated_alone_and_with_others(tiles):
    channels = {"block_sets": BlockSets(), "colour": Colour()}
    protocol = Protocol(per_class=(2,), test_per_class=3, repeats=1)
    found = evaluate(tiles, protocol, channels, {"gp": GPClassifier()}, combine=("none", "average", "evidence"))
    assert {setting.channels for setting in found.summaries} == {"block_sets", "colour", "block_sets+colour"}
    assert all(0 <= summary["accuracy"].mean <= 1 for summary in found.summaries.values())


def test_what_takes_rows_only_says_so(tiles):
    with pytest.raises(FewsightError, match="must compare by histogram intersection, got block_sets"):
        HistogramGPClassifier(BlockSets()).fit(tiles.images, labels_of(tiles))


def test_its_encodings_come_from_the_cache_the_second_time(tiles, tmp_path):
    images, plain = tiles.images[:4], BlockSets().fit(tiles.images)
    channel = BlockSets(cache=FeatureCache(tmp_path)).fit(tiles.images)
    channel.encode(images)
    channel._describe = channel._encode = None  # from here on nothing may be described or encoded
    for name, part in channel.encode(images).state().arrays.items():
        np.testing.assert_array_equal(part, plain.encode(images).state().arrays[name])


def test_features_that_an_older_version_kept_without_scales_are_made_anew(tiles, tmp_path):
    (image,), cache = tiles.images[:1], FeatureCache(tmp_path)
    channel = BlockSets(cache=cache)
    (whole,) = channel.local_features([image])
    older = LocalFeatures(whole.descriptors, whole.locations).state()
    cache.put(channel._features_key(image), older)
    (again,) = channel.local_features([image])
    np.testing.assert_array_equal(again.scales, whole.scales)
    assert again.aspect == whole.aspect == 1.0
    assert set(cache.get(channel._features_key(image)).arrays) == {"descriptors", "locations", "scales", "strengths"}


def test_a_channel_that_does_not_ask_for_scales_reads_what_an_older_version_kept(tiles, tmp_path):
    (image,), cache = tiles.images[:1], FeatureCache(tmp_path)
    channel = Colour(cache=cache)
    (whole,) = channel.local_features([image])
    cache.put(channel._features_key(image), LocalFeatures(whole.descriptors, whole.locations).state())
    channel._describe = None  # from here on nothing may be described
    (again,) = channel.local_features([image])
    assert again.scales is None
    assert again.aspect is None
    np.testing.assert_array_equal(again.descriptors, whole.descriptors)
