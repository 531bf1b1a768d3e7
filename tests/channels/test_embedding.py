"""Channel `embedding`: any image network in an ONNX file."""

import json

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import CHANNELS, Embedding, make_channel
from fewsight.channels import embedding as embedding_module
from fewsight.learners import GPClassifier
from fewsight.persistence import load, save
from small_networks import write_network

needs_onnx = pytest.mark.skipif(CHANNELS["embedding"].missing() is not None, reason="needs fewsight[onnx]")


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


def test_an_absent_runtime_is_one_line(monkeypatch):
    monkeypatch.setattr(embedding_module, "onnxruntime_is_there", lambda: False)
    with pytest.raises(InvalidInput) as caught:
        make_channel("embedding", model="net.onnx")
    assert str(caught.value) == (
        "channels: embedding needs onnxruntime, which is not installed: pip install 'fewsight[onnx]'."
    )
