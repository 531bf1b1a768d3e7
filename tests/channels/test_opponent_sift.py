"""The channel on opponent-colour SIFT: what the contract of all channels does not ask, above all what labels do."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import OpponentSift, SpatialPmk
from fewsight.images import FeatureCache, as_image, draw_split, sample_set
from fewsight.learners import GPClassifier

LABELS = ["brick", "grass", "brick", "grass", "moon", "moon"]


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return [tiles.images[index] for index in range(0, len(tiles), len(tiles) // 6)][:6]


def quick(**options):
    return OpponentSift(
        **{"supervised": True, "n_trees": 2, "n_leaves": 20, "n_descriptors": 1_000, "longest_side": 64, **options}
    )


def digest(images, labels=None, **options):
    return quick(**options).fit(images, labels).forest_.digest


def test_the_labels_decide_what_is_learned_and_their_names_do_not(tiles):
    learned = digest(tiles, LABELS)
    assert learned != digest(tiles) != digest(tiles, LABELS[::-1]) != learned
    assert learned == digest(tiles, [5, 7, 5, 7, 0, 0]) == digest(tiles, np.array(LABELS, dtype=object))


def test_unsupervised_it_does_not_look_at_labels(tiles):
    assert not OpponentSift().supervised
    assert digest(tiles, LABELS, supervised=False) == digest(tiles, supervised=False) == digest(tiles)


def test_images_without_a_label_contribute_nothing_to_supervised_words(tiles):
    hidden = [*LABELS[:4], None, None]
    other = [as_image(np.random.default_rng(0).random((64, 64, 3), dtype=np.float32))] * 2
    assert digest(tiles, hidden) == digest([*tiles[:4], *other], hidden) != digest(tiles, LABELS)


@pytest.mark.parametrize("labels", [[None] * 6, ["one"] * 6, [None, *["one"] * 5]])
def test_with_fewer_than_two_classes_it_learns_without_labels(tiles, labels):
    assert digest(tiles, labels) == digest(tiles)


def test_what_was_learned_from_other_labels_is_not_taken_from_the_cache(tiles, tmp_path):
    cache = FeatureCache(tmp_path)
    for labels in (LABELS, None, LABELS[::-1], [*LABELS[:4], None, None], LABELS):
        assert digest(tiles, labels, cache=cache) == digest(tiles, labels)


def test_labels_do_not_enter_the_key_of_a_channel_that_does_not_use_them(tiles, tmp_path):
    channel = SpatialPmk(cache=FeatureCache(tmp_path), n_words=10, longest_side=64).fit(tiles, LABELS)
    channel._describe = channel._learn = None  # from here on nothing may be described or learned
    channel.fit(tiles).fit(tiles, LABELS[::-1])


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (LABELS[:5], "images and labels must have the same length, got 6 and 5"),
        (3, "labels must be a list of strings, integers or None, got 3"),
        ([["a"], ["b"]] * 3, "labels must be a list of strings"),
    ],
)
def test_wrong_labels_are_refused_in_one_sentence(tiles, labels, sentence):
    with pytest.raises(InvalidInput, match=f"OpponentSift: {sentence}"):
        quick().fit(tiles, labels)


def test_rows_sum_to_one_and_hold_a_word_of_each_tree(tiles):
    channel = quick().fit(tiles, LABELS)
    A = channel.encode(tiles)
    np.testing.assert_allclose(A.matrix.sum(axis=1), 1, rtol=1e-12)
    assert A.shape[1] == channel.n_columns == 21 * 40
    whole = A.matrix.toarray()[:, :40].reshape(6, 2, 20).sum(axis=2)  # level 0 weighs a quarter, each tree half of that
    np.testing.assert_allclose(whole, 1 / 8, rtol=1e-12)


def test_colour_alone_tells_images_apart():
    rng = np.random.default_rng(0)

    def stripes(colours):
        pixels = np.repeat(np.tile(np.float32(colours), (8, 1))[None, :, :], 64, axis=0)
        return as_image(
            np.clip(np.repeat(pixels, 4, axis=1) + rng.normal(0, 0.02, (64, 64, 1)), 0, 1).astype(np.float32)
        )

    def images(n):  # the same intensity in both classes
        red, blue = ([(0.8, 0.2, 0.2), (0.2, 0.8, 0.2)], [(0.45, 0.45, 0.3), (0.2, 0.2, 0.8)])
        return [stripes(colours) for colours in (red, blue) for _ in range(n)]

    learner = GPClassifier(kernel=quick()).fit(images(3), ["red"] * 3 + ["blue"] * 3)
    np.testing.assert_array_equal(learner.predict(images(2)), ["red", "red", "blue", "blue"])


def test_it_tells_the_sample_textures_apart():
    sample = sample_set()
    split = draw_split(sample.labels, per_class=5, test_per_class=3, seed=0)
    train, test = sample.select(split.train), sample.select(split.test)
    learner = GPClassifier(kernel=OpponentSift(n_descriptors=10_000)).fit(train.images, list(train.labels))
    right = np.mean(learner.predict(test.images) == test.labels.astype(str))
    assert right > 4 / len(sample.classes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_trees": 0}, "OpponentSift: n_trees must be a whole number from 1 to 1,000, got 0"),
        ({"n_leaves": 10**6}, "OpponentSift: n_leaves must be a whole number from 2 to 32,768, got 1000000"),
        ({"supervised": "no"}, "OpponentSift: supervised must be True or False, got 'no'"),
        ({"n_descriptors": 0}, "OpponentSift: n_descriptors must be a whole number from 1 to 2,000,000, got 0"),
        ({"n_levels": 9}, "SpatialPyramid: n_levels must be a whole number from 1 to 8, got 9"),
        ({"longest_side": 10**6}, "OpponentSift: longest_side must be a whole number from 16 to 5,000, got 1000000"),
        ({"step": 0.5, "longest_side": 5_000}, "OpponentSift: step, patch, scales and longest_side must together ask"),
        ({"contrast": -1}, "DenseOpponentSift: contrast must be a number from 0 to 255, got -1"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(tiles, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        quick(**options).fit(tiles)


def test_a_forest_for_longer_descriptors_is_refused(tiles):
    state = quick().fit(tiles, LABELS).state()
    features = state.arrays["learned/features"].copy()
    features[0] = 384
    with pytest.raises(InvalidInput, match="a descriptor has 384 numbers, got a forest that asks for 385"):
        OpponentSift.from_state(State(state.header, {**state.arrays, "learned/features": features}))
