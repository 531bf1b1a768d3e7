"""The channels on whole-image histograms, phog, texture and colour: what the contract of all channels does not ask."""

import json

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight._compiled.chi_square import distances_reference
from fewsight.channels import Colour, Phog, Texture
from fewsight.channels import cells as cells_module
from fewsight.features import BinaryPatterns, Colours, OrientedGradients
from fewsight.images import as_image, draw_split, sample_set
from fewsight.learners import GPClassifier

KINDS = (Phog, Texture, Colour)
BLANK = as_image(np.full((48, 48, 3), 0.5, np.float32))
GREY = as_image(np.tile(np.arange(0, 240, 5, dtype=np.uint8), (40, 1)))
LONG = as_image(np.random.default_rng(0).integers(0, 255, (2, 4000, 3), dtype=np.uint8))


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return [tiles.images[index] for index in range(0, len(tiles), len(tiles) // 10)][:10]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


def test_rows_sum_to_one_even_of_grey_blank_and_very_long_images(kind, tiles):
    channel = kind().fit(tiles)
    A = channel.encode([*tiles, GREY, BLANK, LONG])
    np.testing.assert_allclose(A.matrix.sum(axis=1), 1, rtol=1e-5)
    assert A.matrix.data.min() > 0
    assert np.isfinite(channel.gram(A)).all()


def test_a_blank_image_is_no_more_certain_than_others(kind, tiles):
    """The kernel of an image with itself is one, also where there is nothing to describe."""
    channel = kind().fit(tiles)
    np.testing.assert_array_equal(channel.diag(channel.encode([BLANK, *tiles])), 1)
    learner = GPClassifier(kernel=kind()).fit(tiles, ["first", "second"] * 5)
    blank, known = learner.latent([BLANK, tiles[0]]).std
    assert (blank > known).all()


def test_the_scale_is_the_mean_distance_of_the_training_images(kind, tiles):
    channel = kind().fit(tiles)
    rows = channel.encode(tiles).matrix.toarray()
    distances = distances_reference(rows, rows)
    assert channel.scale_ == pytest.approx(distances[~np.eye(10, dtype=bool)].mean())
    np.testing.assert_allclose(channel.gram(rows), np.exp(-distances / channel.scale_), rtol=1e-9)


def test_of_many_training_images_some_are_drawn_for_the_scale(tiles, monkeypatch):
    monkeypatch.setattr(cells_module, "MOST_ROWS", 5)
    scales = [Phog(random_state=seed).fit(tiles).scale_ for seed in (0, 0, 1)]
    assert scales[0] == scales[1] != scales[2]
    assert scales[0] == pytest.approx(Phog().fit(tiles[:2]).scale_, rel=1)


def test_one_training_image_or_equal_ones_have_a_scale(kind, tiles):
    for images in (tiles[:1], [tiles[0]] * 3, [BLANK, BLANK]):
        channel = kind().fit(images)
        assert channel.scale_ == 1
        assert np.isfinite(channel.gram(channel.encode([*images, *tiles]))).all()


@pytest.mark.parametrize("scale", [0, -1, float("nan"), 1e9, "large", None])
def test_a_scale_from_an_edited_file_is_refused_in_one_sentence(kind, tiles, scale):
    state = kind().fit(tiles[:2]).state()
    edited = State({**state.header, "learned": {"scale": scale}}, state.arrays)
    with pytest.raises(InvalidInput, match=rf"{kind.__name__}: scale must be a number from 1e-09 to 2, got"):
        kind.from_state(edited)


def test_the_local_features_are_the_histograms_of_the_finest_cells(tiles):
    pairs = [
        (Phog(n_levels=3), OrientedGradients(side=4)),
        (Texture(n_levels=2), BinaryPatterns(side=2)),
        (Colour(n_levels=1), Colours(side=1)),
    ]
    for channel, descriptor in pairs:
        (features,) = channel.local_features(tiles[:1])
        expected = descriptor.describe(tiles[0].pixels(300))
        np.testing.assert_array_equal(features.descriptors, expected.descriptors)
        np.testing.assert_array_equal(features.locations, expected.locations)


def test_the_whole_image_level_does_not_know_where_things_are(kind):
    """Mirrored halves have the same colours, and patterns away from the seam, but in other places."""
    noise = np.random.default_rng(0).random((64, 32, 3), dtype=np.float32)
    flat = np.full_like(noise, 0.5)
    there, swapped = (as_image(np.hstack(halves)) for halves in ((noise, flat), (flat, noise)))
    similarity = []
    for n_levels in (1, 3):
        channel = kind(n_levels=n_levels).fit([there, GREY, LONG])
        similarity.append(channel.gram(channel.encode([there]), channel.encode([swapped]))[0, 0])
    assert similarity[0] > 0.9 > similarity[1]


def test_each_option_enters_a_recipe(kind):
    def recipes(channel):
        return json.dumps([channel._feature_recipe(), channel._learn_recipe(), channel._encode_recipe()])

    others = {
        "phog": {"n_bins": 9, "directions": "signed", "smoothing": 3.0},
        "texture": {"scales": (3.0,), "margin": 9},
        "colour": {"n_lightness": 2, "n_chroma": 3, "power": 0.3},
    }[kind.name]
    others = {**others, "n_levels": 2, "longest_side": 64, "random_state": 1}
    made = [kind(), *(kind(**{name: value}) for name, value in others.items())]
    assert len({recipes(channel) for channel in made}) == 1 + len(others)
    assert set(others) | {"cache", "n_jobs"} == set(kind().get_params())


def test_bad_options_are_refused_in_one_sentence(kind, tiles):
    with pytest.raises(InvalidInput, match="n_levels must be a whole number from 1 to 8, got 0"):
        kind(n_levels=0).fit(tiles)
    with pytest.raises(
        InvalidInput, match=f"{kind.__name__}: longest_side must be a whole number from 16 to 5,000, got 3"
    ):
        kind(longest_side=3).fit(tiles)


def test_options_that_would_fill_the_memory_are_refused_also_in_a_file(tiles):
    huge = {"n_lightness": 64, "n_chroma": 64, "n_levels": 8}
    sentence = (
        r"Colour: the number of columns \(bins x cells\) must be a whole number from 1 to 10,000,000, got 5726535681"
    )
    with pytest.raises(InvalidInput, match=sentence):
        Colour(**huge).fit(tiles[:1])
    state = Colour().fit(tiles[:1]).state()
    edited = State({**state.header, "options": {**state.header["options"], **huge}}, state.arrays)
    with pytest.raises(InvalidInput, match=sentence):
        Colour.from_state(edited)


@pytest.mark.parametrize(("kind", "times_chance"), [(Phog, 3), (Texture, 6), (Colour, 5)])
def test_it_tells_the_sample_textures_apart(kind, times_chance):
    sample = sample_set()
    split = draw_split(sample.labels, per_class=5, test_per_class=3, seed=0)
    train, test = sample.select(split.train), sample.select(split.test)
    learner = GPClassifier(kernel=kind(n_levels=1)).fit(train.images, list(train.labels))
    right = np.mean(learner.predict(test.images) == test.labels.astype(str))
    assert right > times_chance / len(sample.classes)
