"""Words in windows: what is counted, compared, chosen and stored."""

import numpy as np
import pytest

import fewsight
from fewsight._base.errors import InvalidInput
from fewsight.channels import BoxFamily, CodebookFamily, SpatialPmk, Windows
from fewsight.channels.windows import METHODS
from fewsight.channels.word_memory import LocalWords, WordMemory
from fewsight.encodings import WHOLE, cell_boxes
from fewsight.images import FeatureCache
from fewsight.kernels import ExponentialChiSquare
from fewsight.learners import GPClassifier, InfiniteKernelClassifier, MKLClassifier

SMALL = {"n_words": 20, "n_descriptors": 2_000, "longest_side": 64}
LEFT, RIGHT = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def images(tiles):
    return list(tiles.images)


@pytest.fixture(scope="module")
def labels(tiles):
    return np.array(tiles.labels)


def test_words_of_a_window_are_those_of_the_pyramid_cell(images):
    """With the codebook of `spatial_pmk`, the cells of its second level hold the same words."""
    pyramid = SpatialPmk(**SMALL, n_levels=2).fit(images)
    cells = Windows(**SMALL, boxes=tuple(cell_boxes(2))).fit(images)
    counts = pyramid.encode(images).matrix.toarray()[:, SMALL["n_words"] :]  # the quarters
    ours = cells.encode(images).matrix.toarray()
    for quarter in range(4):
        at = slice(20 * quarter, 20 * (quarter + 1))
        np.testing.assert_allclose(ours[:, at], counts[:, at] / counts[:, at].sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("assignment", ["hard", "soft"])
def test_rows_come_window_by_window_as_well(images, assignment):
    channel = Windows(**SMALL, boxes=(WHOLE, LEFT, RIGHT), codebooks=(0, 1, 0), assignment=assignment).fit(images)
    together = channel.encode(images[:7]).matrix.toarray()
    rows = channel.window_rows(images[:7])
    one_by_one = [rows[number].toarray() for number in range(len(rows))]
    np.testing.assert_array_equal(np.hstack(one_by_one), together)


def test_the_scale_of_each_window_is_the_median_distance_of_training_images(images):
    channel = Windows(**SMALL, boxes=(WHOLE, LEFT)).fit(images)
    rows = channel.encode(images).matrix.toarray()
    for number in range(2):
        distances = -np.log(ExponentialChiSquare(1.0).gram(rows[:, 20 * number : 20 * (number + 1)]))
        assert np.median(distances[np.triu_indices(len(images), 1)]) == pytest.approx(channel.distances_[number])
    assert channel.kernel.gammas == pytest.approx(tuple(1 / channel.distances_))


@pytest.mark.parametrize("method", METHODS)
def test_codebooks_of_other_numbers_are_others_and_the_same_number_is_the_same(images, method):
    one, same, other = (
        Windows(**SMALL, boxes=(WHOLE,), method=method, codebooks=(number,)).fit(images).books_[number].words
        for number in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_soft_words_share_a_feature_and_add_up_to_one(images):
    hard, soft = (Windows(**SMALL, boxes=(WHOLE,), assignment=how).fit(images) for how in ("hard", "soft"))
    rows = soft.encode(images).matrix
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert rows.nnz > hard.encode(images).matrix.nnz


def test_a_window_without_features_is_empty_and_has_a_kernel_value(images):
    channel = Windows(**SMALL, step=32, scales=(1.0,), boxes=((0.0, 0.0, 0.01, 0.01), WHOLE)).fit(images)
    K = channel.gram(channel.encode(images))
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K.diagonal(), 1.0)


def test_weights_say_how_much_each_window_counts(images):
    both = Windows(**SMALL, boxes=(LEFT, RIGHT), weights=(3.0, 1.0)).fit(images)
    left, right = (Windows(**SMALL, boxes=(box,)).fit(images) for box in (LEFT, RIGHT))
    apart = 0.75 * left.gram(left.encode(images)) + 0.25 * right.gram(right.encode(images))
    np.testing.assert_allclose(both.gram(both.encode(images)), apart, rtol=1e-12)


def test_a_channel_of_many_windows_is_many_kernels_for_a_learner_of_weights(images, labels):
    whole = Windows(**SMALL, n_boxes=4, codebooks=(2,))
    learner = MKLClassifier(whole.parts(), norm="l2", C=10.0).fit(images, labels)
    chosen = learner.chosen_channel()
    assert chosen.layout == whole.layout
    np.testing.assert_allclose(chosen.shares, learner.shares(4))


def test_several_channels_become_one_with_their_weights(images):
    parts = [Windows(**SMALL, boxes=(LEFT,)), Windows(**SMALL, boxes=(RIGHT, LEFT)), Windows(**SMALL, boxes=(WHOLE,))]
    one = Windows.of(parts, [2.0, 1.0, 0.0])
    assert one.layout == (LEFT, RIGHT)
    np.testing.assert_allclose(one.shares, [2.5 / 3, 0.5 / 3])
    with pytest.raises(InvalidInput, match="must not differ in other options"):
        Windows.of([Windows(n_words=10), Windows(n_words=20)], [1, 1])
    with pytest.raises(InvalidInput, match="one or more of the weights must be above 0"):
        Windows.of(parts, [0, 0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boxes": ((0, 0, 2, 1),)}, "a box must be left, top, right, bottom"),
        ({"boxes": (LEFT, RIGHT), "weights": (1.0,)}, "weights must be None or 2 numbers"),
        ({"boxes": (LEFT, RIGHT), "codebooks": (1, 2, 3)}, "codebooks must be one number, or 2"),
        ({"method": "forest"}, "method must be one of"),
        ({"assignment": "fuzzy"}, "assignment must be one of"),
        ({"n_boxes": 0}, "n_boxes must be a whole number from 1"),
    ],
)
def test_options_that_are_none_are_refused(images, options, message):
    with pytest.raises(InvalidInput, match=message):
        Windows(**{**SMALL, **options}).fit(images[:2])


@pytest.mark.parametrize("family", [BoxFamily(**SMALL), CodebookFamily(**SMALL)], ids=lambda family: family.kind)
def test_a_learner_asks_for_windows_and_codebooks_and_what_it_chose_is_a_channel(images, labels, family, tmp_path):
    start = Windows(**SMALL, boxes=((0.4, 0.4, 0.6, 0.6),), method=family.method)
    learner = InfiniteKernelClassifier(start, family, C=10.0, n_starts=6, max_kernels=5).fit(images, labels)
    assert len(learner.kernels_) > 1
    fewsight.save(learner, tmp_path / "m.fewsight")
    again = fewsight.load(tmp_path / "m.fewsight")
    assert again.family == family
    np.testing.assert_allclose(again.latent(images).mean, learner.latent(images).mean, atol=1e-9)
    chosen = learner.chosen_channel()
    assert len(chosen.layout) == len(learner.kernels_)
    gp = GPClassifier(chosen, noise_variance=0.1).fit(images, labels)
    fewsight.save(gp, tmp_path / "gp.fewsight")
    np.testing.assert_allclose(
        fewsight.load(tmp_path / "gp.fewsight").latent(images).mean, gp.latent(images).mean, atol=1e-9
    )


def test_only_windows_become_one_channel(images, labels):
    learner = MKLClassifier([SpatialPmk(**SMALL, n_levels=1), Windows(**SMALL, boxes=(WHOLE,))], norm="l2", C=10.0)
    with pytest.raises(InvalidInput, match="only windows channels become one channel, got spatial_pmk"):
        learner.fit(images, labels).chosen_channel()


def test_words_are_found_once_while_windows_are_tried(images, monkeypatch):
    family, calls = BoxFamily(**SMALL, random_state=77), []
    plain = Windows._assigned
    monkeypatch.setattr(Windows, "_assigned", lambda self, *args: calls.append(1) or plain(self, *args))
    for seed in range(3):
        channel = family.make(family.propose(images, np.random.default_rng(seed))).fit(images)
        channel.encode(images)
    assert len(calls) == len(images)


def test_the_memory_of_words_is_bounded():
    from fewsight._base.types import LocalFeatures

    features = LocalFeatures(np.zeros((10, 128), np.uint8), np.zeros((10, 2), np.float32))
    memory = WordMemory(most_bytes=5_000)
    for number in range(20):
        memory.words(str(number), "a", lambda: features, lambda found: LocalWords(np.zeros((10, 1), np.uint8), None))
    assert memory._bytes <= 5_000
    assert memory._bytes == sum(entry.nbytes for entry in memory._entries.values())


def test_an_image_whose_features_are_kept_counts_as_encoded(images, tmp_path):
    channel = Windows(**SMALL, boxes=(WHOLE,), random_state=5, patch=12).set_workplace(
        cache=FeatureCache(tmp_path), n_jobs=None
    )
    channel.fit(images[:4])
    assert channel.is_encoded(images[0])
    assert not channel.is_encoded(images[9])
