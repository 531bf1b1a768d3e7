"""Channels on one vector per image: how wide the Gaussian is, and each way of comparing."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import Vectors
from fewsight.channels import vector_channel as module
from fewsight.channels.vector_channel import NATS_PER_OCTAVE, NOISES, USUAL_WIDTH, WIDTHS, scale_by_evidence
from fewsight.images import as_image


def clusters(n_groups, n_each, spread=0.3, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), n_each)
    rows = rng.normal(size=(n_groups, 8))[groups] + spread * rng.normal(size=(len(groups), 8))
    return rows, groups


def log_evidence(K, targets, noise):
    """Of targets up to a constant, at the best common factor of K and noise, for a mean of which nothing is known."""
    n, c = targets.shape
    basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]  # all differences between targets
    A = basis.T @ (K + noise * np.eye(n)) @ basis
    z = basis.T @ targets
    misfit = np.sum(z * np.linalg.solve(A, z)) / ((n - 1) * c)
    return -0.5 * c * (np.linalg.slogdet(A)[1] + (n - 1) * (1 + np.log(2 * np.pi * misfit)))


def test_the_scale_is_the_one_with_the_highest_evidence():
    rows, groups = clusters(5, 6)
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    mean = distances.sum() / (30 * 29)
    targets = np.where(groups[:, None] == np.arange(5), 1.0, -1.0)
    for usual in (None, 0.7 * mean):
        expected = USUAL_WIDTH * mean if usual is None else usual

        def value(width, expected=expected):
            K = np.exp(-0.5 * distances / (width * expected))
            best = max(log_evidence(K, targets, noise) for noise in NOISES)
            return best - NATS_PER_OCTAVE * abs(np.log2(width))

        found = scale_by_evidence(rows, groups, np.random.default_rng(0), usual)
        assert found == pytest.approx(np.sqrt(max(WIDTHS, key=value) * expected))


def test_narrow_clusters_get_a_narrower_kernel():
    scales = [scale_by_evidence(*clusters(5, 6, spread), np.random.default_rng(0)) for spread in (0.1, 1.5)]
    assert scales[0] < scales[1]


def test_where_labels_cannot_tell_the_scale_is_the_usual_one():
    rows, groups = clusters(10, 3)
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    usual = np.sqrt(USUAL_WIDTH * distances.sum() / (30 * 29))
    for none in (np.full(30, -1), np.arange(30), np.zeros(30, int)):
        assert scale_by_evidence(rows, none, np.random.default_rng(0)) == pytest.approx(usual)
    assert scale_by_evidence(rows[:1], groups[:1], np.random.default_rng(0)) == 1
    assert scale_by_evidence(np.ones((4, 3)), np.array([0, 0, 1, 1]), np.random.default_rng(0)) == 1


def test_of_many_training_images_whole_classes_are_drawn(monkeypatch):
    rows, groups = clusters(20, 5)
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    drawn = module._of_whole_groups(groups, np.random.default_rng(0))
    assert len(drawn) == 30
    assert set(np.bincount(groups[drawn]).tolist()) == {0, 5}
    assert scale_by_evidence(rows, groups, np.random.default_rng(0)) > 0


def test_each_way_of_comparing_is_what_its_name_says(tiles, table):
    channel = Vectors(table, compare="linear").fit(tiles.images)
    raw = channel.encode(tiles.images).matrix.toarray()
    unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(channel.gram(channel.encode(tiles.images)), raw @ raw.T, rtol=1e-12)
    cosine = Vectors(table, compare="cosine").fit(tiles.images)
    np.testing.assert_allclose(cosine.gram(cosine.encode(tiles.images)), unit @ unit.T, atol=1e-12)
    for unit_length, rows in ((True, unit), (False, raw)):
        rbf = Vectors(table, scale=0.7, unit_length=unit_length).fit(tiles.images)
        distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(rbf.gram(rbf.encode(tiles.images)), np.exp(-0.5 * distances / 0.49), atol=1e-10)


def test_labels_make_a_difference(tiles, tmp_path):
    rows, groups = clusters(3, 7, spread=0.05)
    images = tiles.images[:21]
    np.savez(tmp_path / "near.npz", vectors=rows, hashes=np.array([image.content_hash for image in images]))
    channels = [Vectors(tmp_path / "near.npz").fit(images, known) for known in (groups, groups, None)]
    assert channels[0].scale_ == channels[1].scale_
    assert channels[0].scale_ < channels[2].scale_


def test_a_vector_of_zeros_has_no_direction_and_stays(tmp_path):
    images = [as_image(np.full((4, 4, 3), level, np.uint8)) for level in (1, 2)]
    np.savez(
        tmp_path / "v.npz", x=np.array([[0.0, 0.0], [3.0, 4.0]]), hashes=np.array([i.content_hash for i in images])
    )
    channel = Vectors(tmp_path / "v.npz").fit(images)
    np.testing.assert_allclose(channel.encode(images).matrix.toarray(), [[0, 0], [0.6, 0.8]])
    assert np.isfinite(channel.gram(channel.encode(images))).all()


@pytest.mark.parametrize("edit", [{"scale": -1}, {"n_columns": 10**9}, {"scale": None}, {"n_columns": "many"}])
def test_an_edited_state_is_refused_in_one_sentence(tiles, table, edit):
    state = Vectors(table).fit(tiles.images).state()
    with pytest.raises(InvalidInput, match=r"Vectors: .* must be a (whole )?number from"):
        Vectors.from_state(State({**state.header, "learned": {**state.header["learned"], **edit}}, state.arrays))


def test_the_vectors_of_images_are_one_call(tiles, table):
    with np.load(table) as stored:
        known = dict(zip(stored["hashes"].tolist(), stored["vectors"], strict=True))
    expected = np.stack([known[image.content_hash] for image in tiles.images])
    np.testing.assert_allclose(Vectors(table).vectors(tiles.images), expected)  # not fitted, and not scaled
    np.testing.assert_allclose(Vectors(table).vectors(tiles.images[::-1]), expected[::-1])
    assert Vectors(table).vectors([]).shape == (0, 0)
    with pytest.raises(InvalidInput, match="Vectors: compare must be one of"):
        Vectors(table, compare="chi").vectors(tiles.images)
