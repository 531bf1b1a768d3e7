"""Small ONNX files for tests, made by hand: good ones, and some that are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fewsight.features.networks import onnx_writing as onnx
from fewsight.images import Image

SIDE, N_FEATURES = 16, 12


def filters(n: int = N_FEATURES) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3, 4, 4)).astype(np.float32)


def network(
    *,
    shape: Any = ("n", 3, SIDE, SIDE),
    element: int = onnx.FLOAT,
    output: Any = ("n", N_FEATURES),
    ending: str = "vector",
    metadata: dict[str, str] | None = None,
    domain: str = "",
    second_input: bool = False,
) -> bytes:
    """A convolution and a ReLU, then: "vector" averages the map, "map" leaves it, "tokens" makes a sequence of it."""
    attributes = {"kernel_shape": [4, 4], "strides": [4, 4]}
    nodes = [onnx.node("Conv", ["image", "filters"], "m0", attributes), onnx.node("Relu", ["m0"], "m1", domain=domain)]
    tensors = [onnx.tensor("filters", filters()), onnx.tensor("axes", np.array([0, N_FEATURES, -1]))]
    if ending == "vector":
        nodes += [onnx.node("GlobalAveragePool", ["m1"], "m2"), onnx.node("Flatten", ["m2"], "vector")]
    elif ending == "map":
        nodes.append(onnx.node("Relu", ["m1"], "vector"))
    elif ending == "tokens":
        nodes += [
            onnx.node("Reshape", ["m1", "axes"], "m2"),
            onnx.node("Transpose", ["m2"], "vector", {"perm": [0, 2, 1]}),
        ]
    elif ending == "nan":  # 0 / 0
        nodes += [onnx.node("GlobalAveragePool", ["m1"], "m2"), onnx.node("Sub", ["m2", "m2"], "m3")]
        nodes += [onnx.node("Div", ["m3", "m3"], "m4"), onnx.node("Flatten", ["m4"], "vector")]
    elif ending == "giant":
        tensors.append(onnx.tensor("times", np.array([1, 1, 4000, 4000])))
        nodes += [onnx.node("Tile", ["m1", "times"], "m2"), onnx.node("Flatten", ["m2"], "vector")]
    inputs = [onnx.value("image", shape, element)]
    if second_input:
        inputs.append(onnx.value("text", ("n", 8)))
        nodes.append(onnx.node("Relu", ["text"], "unused"))
    outputs = [] if output is None else [onnx.value("vector", output)]
    return onnx.model("small", nodes, tensors, inputs, outputs, metadata)


def write_network(path: Path, **options: Any) -> Path:
    path.write_bytes(network(**options))
    return path


def write_vectors(path: Path, images: list[Image], n_columns: int = 6) -> Path:
    """A row for each of the images, by the hash of its content."""
    rows = np.stack([_row(image.content_hash, n_columns) for image in images])
    np.savez(path, vectors=rows, hashes=np.array([image.content_hash for image in images]))
    return path


def _row(content_hash: str, n_columns: int) -> np.ndarray:
    return np.random.default_rng(int(content_hash[:8], 16)).normal(size=n_columns)
