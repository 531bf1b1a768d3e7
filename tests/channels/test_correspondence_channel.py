"""Channels `geometric_blur` and `geometric_blur_distortion`: rows that stand for a repaired correspondence kernel."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import GeometricBlurDistortion, GeometricBlurPoints
from fewsight.channels import correspondence_channel as module
from fewsight.images import FeatureCache, as_image, sample_set
from fewsight.kernels import Correspondence
from fewsight.learners import GPClassifier
from fewsight.persistence import load, save

BLANK = as_image(np.full((40, 40, 3), 0.5, np.float32))
SMALL = {"longest_side": 64, "n_points": 40}
KINDS = [GeometricBlurPoints, GeometricBlurDistortion]


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return tiles.select(list(range(0, len(tiles), len(tiles) // 24))[:24])


def correspondence_kernel(channel):
    return Correspondence(channel.gamma_, channel._distortion if channel.distorts else 0.0)


def sets_of(channel, images):
    """The local features themselves."""
    return module._sets([module._halves(each) for each in channel.local_features(images)], 48)


@pytest.mark.parametrize("kind", KINDS)
def test_between_training_images_it_is_the_correspondence_kernel(kind, tiles):
    channel = kind(**SMALL, neighbours=0).fit(tiles.images)
    K = channel.gram(channel.encode(tiles.images))
    expected = correspondence_kernel(channel).gram(sets_of(channel, tiles.images))
    assert np.linalg.eigvalsh(expected)[0] > 0
    np.testing.assert_allclose(K, expected, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_measured_in_those_to_the_nearest_landmarks(kind, tiles):
    """A landmark is no neighbour of itself; the unit of a test image comes from landmarks alone."""
    train, test = tiles.images[:16], tiles.images[16:]
    channel = kind(**SMALL, neighbours=5).fit(train)
    kernel, landmarks = correspondence_kernel(channel), sets_of(channel, train)
    D, D_test = kernel.distances(landmarks), kernel.distances(sets_of(channel, test), landmarks)
    near = np.sort(D, axis=1)[:, 1:6].mean(axis=1)
    near_test = np.sort(D_test, axis=1)[:, :5].mean(axis=1)
    rows = channel.encode(train)
    expected = np.exp(-channel.gamma_ * D / np.sqrt(np.outer(near, near)))
    assert np.linalg.eigvalsh(expected)[0] > 0
    np.testing.assert_allclose(channel.gram(rows), expected, atol=1e-5)
    expected = np.exp(-channel.gamma_ * D_test / np.sqrt(np.outer(near_test, near)))
    np.testing.assert_allclose(channel.gram(channel.encode(test), rows), expected, atol=1e-5)


def test_many_copies_of_one_image_are_no_unit_of_nothing(tiles):
    images = [tiles.images[0]] * 6 + tiles.images[1:7]
    channel = GeometricBlurPoints(**SMALL, neighbours=4).fit(images)
    K = channel.gram(channel.encode(images))
    np.testing.assert_allclose(K[:6, :6], 1, atol=1e-5)
    assert 0 < K[6:, 6:].min() < 0.9
    assert K[:6, 6:].max() < 0.9
    same = GeometricBlurPoints(**SMALL).fit(images[:6])
    np.testing.assert_allclose(same.gram(same.encode(images[:6])), 1, atol=1e-5)


def test_what_is_below_zero_is_left_out(tiles, monkeypatch):
    """With distances that no points of any space have."""
    D = np.random.default_rng(0).random((24, 24))
    D = np.triu(D, 1) + np.triu(D, 1).T
    monkeypatch.setattr(module, "both_distances", lambda A, B, *rest, **more: np.stack([D, D]))
    channel = GeometricBlurPoints(**SMALL, gamma=0.3, neighbours=0).fit(tiles.images)
    values, vectors = np.linalg.eigh(np.exp(-0.3 * D))
    assert values[0] < -0.1
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(channel.gram(channel.encode(tiles.images)), clipped, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_no_eigenvalue_is_below_zero_with_test_images_and_duplicates(kind, gamma, tiles):
    channel = kind(**SMALL, gamma=gamma).fit([*tiles.images[:10], *tiles.images[:3]])
    K = channel.gram(channel.encode([*tiles.images, *tiles.images[:5], *tiles.images[12:15], BLANK, BLANK]))
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-10 * values[-1]


def test_no_pair_of_training_images_is_compared_twice_and_no_test_image_with_another(tiles, monkeypatch):
    compared = []

    def counted(A, B, *rest, **more):
        compared.append(len(A) * (len(A) + 1) // 2 if B is None else len(A) * len(B))
        return both(A, B, *rest, **more)

    both = module.both_distances
    monkeypatch.setattr(module, "both_distances", counted)
    channel = GeometricBlurPoints(**SMALL).fit(tiles.images[:8])
    train, test = channel.encode(tiles.images[:8]), channel.encode(tiles.images[8:13])
    channel.gram(train), channel.gram(test, train)
    assert sum(compared) == 8 * 9 // 2 + 5 * 8


def test_with_a_cache_the_second_channel_compares_nothing(tiles, tmp_path, monkeypatch):
    plain = GeometricBlurDistortion(**SMALL).fit(tiles.images[:8]).encode(tiles.images)
    cache = FeatureCache(tmp_path)
    GeometricBlurPoints(**SMALL, cache=cache).fit(tiles.images[:8]).encode(tiles.images)
    monkeypatch.setattr(module, "both_distances", None)
    found = GeometricBlurDistortion(**SMALL, cache=cache).fit(tiles.images[:8]).encode(tiles.images)
    np.testing.assert_array_equal(found.matrix, plain.matrix)


def test_landmarks_have_a_bound_and_are_drawn_by_the_seed(tiles):
    one, same, other = (
        GeometricBlurPoints(**SMALL, max_landmarks=6, random_state=seed).fit(tiles.images) for seed in (0, 0, 1)
    )
    assert len(one.landmarks_) == 6
    np.testing.assert_array_equal(one.learned_.arrays["landmarks"], same.learned_.arrays["landmarks"])
    assert one.n_columns <= 7
    assert one.learned_.arrays["landmarks"].tobytes() != other.learned_.arrays["landmarks"].tobytes()
    assert one.learned_.arrays["landmarks"].dtype == np.float16


def test_gamma_follows_the_mean_distance_unless_it_is_given(tiles):
    channel = GeometricBlurPoints(**SMALL, neighbours=0).fit(tiles.images)
    D = Correspondence().distances(channel.landmarks_)
    n = len(D)
    assert channel.gamma_ == pytest.approx(module.PER_MEAN_DISTANCE / (D.sum() / (n * (n - 1))), rel=1e-6)
    assert GeometricBlurPoints(**SMALL, gamma=3.0).fit(tiles.images[:3]).gamma_ == 3.0


def test_images_without_edges_are_alike_and_like_nothing_else(tiles):
    channel = GeometricBlurPoints(**SMALL).fit([*tiles.images[:4], BLANK])
    K = channel.gram(channel.encode([BLANK, BLANK, *tiles.images]))
    np.testing.assert_array_equal(K[:2, :2], np.ones((2, 2)))
    np.testing.assert_array_equal(K[:2, 2:], 0)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same_one_at_a_time_after_add_and_from_a_file(kind, tiles, tmp_path):
    images, labels = tiles.images, np.array(["a", "b"])[np.arange(24) % 2]
    learner = GPClassifier(kind(**SMALL), noise_variance=0.1).fit(images[:10], labels[:10])
    landmarks = learner.channels[0].landmarks_
    together = learner.latent(images).mean
    alone = np.concatenate([learner.latent([image]).mean for image in images])
    np.testing.assert_allclose(alone, together, atol=1e-10)
    learner.add(images[10:14], labels[10:14])
    assert learner.channels[0].landmarks_ is landmarks
    after = learner.latent(images).mean
    assert np.abs(after - together).max() > 1e-3
    save(learner, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").latent(images).mean, after, atol=1e-10)


def test_position_counts_with_a_distortion_only(tiles):
    pixels = np.zeros((64, 64, 3), np.float32)
    pixels[4:20, 4:20] = 1
    moved = np.roll(pixels, (36, 36), axis=(0, 1))
    images = [as_image(pixels), as_image(moved), *tiles.images[:6]]
    near, far = (kind(**SMALL, gamma=2.0).fit(images) for kind in KINDS)
    alike, apart = (channel.gram(channel.encode(images))[0, 1] for channel in (near, far))
    assert apart < 0.8 * alike


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (GeometricBlurPoints, {"gamma": 0}, "GeometricBlurPoints: gamma must be a number from 1e-09 to"),
        (GeometricBlurPoints, {"max_landmarks": 0}, "max_landmarks must be a whole number from 1 to 20,000, got 0"),
        (GeometricBlurPoints, {"neighbours": -1}, "neighbours must be a whole number from 0 to 20,000, got -1"),
        (GeometricBlurPoints, {"n_points": 0}, "n_points must be a whole number from 1 to 10,000, got 0"),
        (GeometricBlurDistortion, {"distortion": -1}, "distortion must be a number from 0 to 1000, got -1"),
    ],
)
def test_wrong_options_are_one_sentence(kind, options, sentence, tiles):
    with pytest.raises(InvalidInput, match=sentence):
        kind(**options).fit(tiles.images[:2])


def test_an_edited_file_with_other_counts_is_refused(tiles):
    state = GeometricBlurPoints(**SMALL).fit(tiles.images[:4]).state()
    state.arrays["learned/counts"] = state.arrays["learned/counts"] + 1
    with pytest.raises(InvalidInput, match="GeometricBlurPoints: landmarks must have"):
        GeometricBlurPoints.from_state(state)
