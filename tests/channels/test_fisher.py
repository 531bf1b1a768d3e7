"""Fisher channels: what their options do, what they learn from images without a label, and where they find parts."""

import cv2
import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import FisherDog, FisherHarris, FisherHessian, FisherKb
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import sample_set
from fewsight.images.image import ImageArray
from fewsight.kernels import RBF, Linear, Polynomial
from fewsight.learners import GenerativeClassifier, GPClassifier
from fewsight.persistence import load, save

KINDS = [FisherKb, FisherDog, FisherHarris, FisherHessian]
QUICK = {"width": 64, "smallest": 3.0, "n_starts": 1}


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return tiles.select([i for i in range(len(tiles)) if tiles.labels[i] in tiles.classes[:3]][::4])


def spots(seed, corners=((60, 40), (110, 30), (140, 80)), clutter=4):
    """Three spots of different size in one arrangement, and others anywhere; and where the three are, as fractions."""
    rng = np.random.default_rng(seed)
    picture, shift = np.full((120, 200), 110.0, np.float32), rng.integers(-18, 18, 2)
    centres = np.array(corners) + shift
    others = rng.random((50, 2)) * (200, 120)
    others = others[np.linalg.norm(others[:, None] - centres, axis=2).min(axis=1) > 25][:clutter]  # none hides another
    for number, centre in enumerate([*centres, *others]):
        radius, sign = ((4, 1), (7, -1), (5, 1))[number] if number < 3 else (rng.uniform(3, 6), rng.choice([-1, 1]))
        y, x = np.indices(picture.shape)
        picture += sign * 70 * np.exp(-0.5 * ((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / radius**2)
    picture += rng.normal(scale=2.0, size=picture.shape)
    return ImageArray(np.clip(picture, 0, 255).astype(np.uint8)), centres / (200, 120)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_can_be_none_and_unlabelled_images_are_learned_from(kind, tiles, tmp_path):
    labels = np.array(tiles.labels, dtype=object)
    labels[1::2] = None
    learner = GPClassifier(kind(**QUICK)).fit(tiles.images, labels)
    alone = GPClassifier(kind(**QUICK)).fit([tiles.images[i] for i in range(0, len(tiles), 2)], labels[::2].tolist())
    assert learner.input_.n_training == alone.input_.n_training
    assert learner.channels[0].models_[0].digest != alone.channels[0].models_[0].digest
    save(learner, tmp_path / "model")
    np.testing.assert_allclose(
        load(tmp_path / "model").latent(tiles.images).mean, learner.latent(tiles.images).mean, atol=1e-10
    )


def test_one_model_does_not_depend_on_labels_and_one_for_each_does(tiles):
    plain, labelled = FisherHarris(**QUICK).fit(tiles.images), FisherHarris(**QUICK).fit(tiles.images, tiles.labels)
    assert len(plain.models_) == 1
    assert plain.models_[0].digest == labelled.models_[0].digest
    each = FisherHarris(models="each", **QUICK).fit(tiles.images, tiles.labels)
    assert len(each.models_) == 3
    assert each.n_columns == 3 * plain.n_columns
    assert each.log_likelihood(tiles.images[:5]).shape == (5, 3)
    without = FisherHarris(models="each", **QUICK).fit(tiles.images)
    assert without.models_[0].digest == plain.models_[0].digest


def test_models_of_categories_tell_them_apart(tiles):
    each = FisherDog(models="each", **QUICK).fit(tiles.images, tiles.labels)
    own = each.log_likelihood(tiles.images).argmax(axis=1)
    assert np.mean(np.array(list(dict.fromkeys(tiles.labels)))[own] == np.array(tiles.labels)) > 0.6


def test_with_higher_floors_every_part_takes_in_more_points(tiles):
    def points_of_a_part(**floors):
        channel = FisherHarris(clutter=False, n_components=10, **QUICK, **floors).fit(tiles.images)
        points = channel._points(channel.local_features(tiles.images))
        shares = channel.models_[0].expect(points).shares
        return len(tiles) * channel.n_parts / (shares**2).sum()

    assert points_of_a_part(least_variance=1.5, least_spread=0.2) > 2 * points_of_a_part()


def test_every_start_can_be_kept_as_a_model_of_its_own(tiles):
    options = {**QUICK, "n_starts": 3, "compare": "linear"}
    best, kept = (FisherHarris(keep=keep, **options).fit(tiles.images) for keep in ("best", "all"))
    assert len({model.digest for model in kept.models_}) == kept.n_models == 3
    assert kept.models_[0].digest == best.models_[0].digest
    assert kept.n_columns == 3 * best.n_columns
    np.testing.assert_array_equal(
        kept.encode(tiles.images).matrix[:, : best.n_columns], best.encode(tiles.images).matrix
    )
    likelihoods = kept.log_likelihood(tiles.images).mean(axis=0)
    assert (np.diff(likelihoods) <= 1e-9).all()  # the most probable comes first
    each = FisherHarris(models="each", keep="all", **options).fit(tiles.images, tiles.labels)
    assert each.n_models == 9
    assert GenerativeClassifier(kept).fit(tiles.images, tiles.labels).channels[0].n_models == 3  # one for each category


def test_scores_of_unit_length_keep_their_direction(tiles):
    plain, unit = (FisherHarris(unit_length=way, **QUICK).fit(tiles.images, tiles.labels) for way in (False, True))
    A, B = (channel.encode(tiles.images).matrix for channel in (plain, unit))
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    np.testing.assert_allclose(lengths * B, A, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(B, axis=1), lengths[:, 0] > 0, atol=1e-12)
    assert unit.scale_ < plain.scale_
    blank = ImageArray(np.full((60, 80), 90, np.uint8))
    np.testing.assert_array_equal(unit.encode([blank]).matrix, np.zeros((1, unit.n_columns)))


def test_scores_of_shape_and_appearance_are_parts_of_both(tiles):
    both, shape, appearance = (
        FisherHessian(uses=uses, compare="linear", **QUICK).fit(tiles.images)
        for uses in ("both", "shape", "appearance")
    )
    A = both.encode(tiles.images).matrix
    assert shape.n_columns == 4 * 3
    assert appearance.n_columns == 2 * 4 * 20
    np.testing.assert_array_equal(A[:, -12:], shape.encode(tiles.images).matrix)
    np.testing.assert_array_equal(A[:, :-12], appearance.encode(tiles.images).matrix)


def test_scores_are_scaled_by_their_mean_square_or_to_a_range(tiles):
    rms = FisherHarris(**QUICK).fit(tiles.images).encode(tiles.images).matrix
    np.testing.assert_allclose((rms**2).mean(axis=0), 1, rtol=1e-9)
    ranged = FisherHarris(scaling="range", **QUICK).fit(tiles.images).encode(tiles.images).matrix
    np.testing.assert_allclose(ranged.min(axis=0), -1, atol=1e-12)
    np.testing.assert_allclose(ranged.max(axis=0), 1, atol=1e-12)


def test_a_channel_compares_as_it_is_told(tiles):
    kernels = [FisherHarris(compare=way, **QUICK).fit(tiles.images).kernel for way in ("rbf", "linear", "polynomial")]
    assert [type(kernel) for kernel in kernels] == [RBF, Linear, Polynomial]
    assert FisherHarris(scale=7.0, **QUICK).fit(tiles.images).kernel == RBF(7.0)


def test_planted_parts_are_localised_within_a_few_pixels():
    images, where = zip(*(spots(seed) for seed in range(40)), strict=True)
    channel = FisherDog(width=200, n_parts=3, n_components=10, max_points=12, n_starts=8).fit(images)
    found = channel.localise(images)
    apart = np.array(
        [
            np.linalg.norm((each[:, None, :2] - true) * (200, 120), axis=2).min(axis=1)
            for each, true in zip(found, where, strict=True)
        ]
    )
    assert np.mean(apart < 4) > 0.85
    assert all((np.diff(each[:, 0]) >= 0).all() for each in found)


def test_an_image_without_points_changes_nothing():
    blank = ImageArray(np.full((60, 80), 90, np.uint8))
    channel = FisherKb(compare="linear", **QUICK).fit([spots(seed)[0] for seed in range(4)])
    np.testing.assert_array_equal(channel.encode([blank]).matrix, np.zeros((1, channel.n_columns)))
    assert channel.localise([blank])[0].shape == (0, 3)


def test_a_larger_copy_is_encoded_much_the_same():
    """Images are looked at in one width."""
    images = [spots(seed)[0] for seed in range(12)]
    channel = FisherDog(width=100, smallest=3.0, n_starts=1).fit(images)
    pixels = images[0].pixels()[:, :, 0]
    larger = ImageArray(
        np.rint(255 * cv2.resize(pixels, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)).clip(0, 255).astype(np.uint8)
    )
    same, *others = channel.gram(channel.encode([larger]), channel.encode(images))[0]
    assert same > max(others)


def test_an_evaluation_draws_unlabelled_images_for_it(tiles):
    protocol = Protocol(per_class=(2,), test_per_class=2, repeats=1, unlabelled=6)
    found = evaluate(tiles, protocol, {"fisher_harris": FisherHarris(**QUICK)}, {"gp": GPClassifier()})
    assert found.records()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"n_parts": 1}, "FisherKb: n_parts must be a whole number from 2 to 6, got 1"),
        ({"models": "all"}, "FisherKb: models must be one of 'one', 'each', got 'all'"),
        ({"uses": "none"}, "FisherKb: uses must be one of 'both', 'shape', 'appearance', got 'none'"),
        ({"keep": "none"}, "FisherKb: keep must be one of 'best', 'all', got 'none'"),
        ({"unit_length": 1}, "FisherKb: unit_length must be True or False, got 1"),
        ({"clutter": 1}, "FisherKb: clutter must be True or False, got 1"),
        ({"least_variance": 0.0}, "FisherKb: least_variance must be a number from 1e-06 to 100, got 0"),
        ({"least_spread": 20.0}, "FisherKb: least_spread must be a number from 0.0001 to 10, got 20"),
        ({"scale": -1.0}, "FisherKb: scale must be a number from 1e-09 to 1e"),
        ({"width": 5}, "InterestPatches: width must be a whole number from 16 to 2,000, got 5"),
    ],
)
def test_a_wrong_option_is_one_sentence(option, message, tiles):
    with pytest.raises(InvalidInput, match=message):
        FisherKb(**option).fit(tiles.images[:2])
