"""The graph of EfficientNet-Lite0 as an ONNX file."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features.networks import pretrained, pretrained_is_there
from fewsight.features.networks.efficientnet import EPSILON, efficientnet_lite0, folded
from fewsight.features.networks.onnx_graph import read_graph
from fewsight.features.networks.torch_weights import read_torch_weights

there = pytest.mark.skipif(not pretrained_is_there(), reason="needs fewsight[pretrained]")


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
