"""EfficientNet-Lite0 as an ONNX graph: weights of a state dictionary in, the bytes of a model file out.

Inverted residual blocks without squeeze-and-excitation, ReLU6 instead of swish. [Tan2019] Each batch normalisation is folded into
the convolution before it. The output is the average of the last feature map, 1,280 numbers; the layer of ImageNet's classes is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight.features.networks import onnx_writing as onnx

SIDE = 224
N_FEATURES = 1280
EPSILON = 1e-3  # of the batch normalisation
INPUT, OUTPUT = "pixels", "features"


class Stage(NamedTuple):
    """Blocks of one shape; the stride is that of the first."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    inputs: int
    outputs: int


STAGES = (
    Stage(1, 3, 1, 1, 32, 16),
    Stage(2, 3, 2, 6, 16, 24),
    Stage(2, 5, 2, 6, 24, 40),
    Stage(3, 3, 2, 6, 40, 80),
    Stage(3, 5, 1, 6, 80, 112),
    Stage(4, 5, 2, 6, 112, 192),
    Stage(1, 3, 1, 6, 192, 320),
)


def folded(kernel: np.ndarray, norm: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A convolution's kernel and bias that do what kernel and batch normalisation did: (scale, shift, mean, variance)."""
    scale, shift, mean, variance = (part.astype(np.float64) for part in norm)
    factor = scale / np.sqrt(variance + EPSILON)
    return (kernel * factor[:, None, None, None]).astype(np.float32), (shift - mean * factor).astype(np.float32)


def efficientnet_lite0(weights: dict[str, np.ndarray]) -> bytes:
    """The ONNX file of the network whose state dictionary this is: input (n, 3, 224, 224), output (n, 1280)."""
    graph = _Graph(weights)
    current = graph.convolution(INPUT, "_conv_stem", "_bn0", stride=2, side=SIDE, bounded=True)
    side = SIDE // 2
    for index, block in enumerate(_blocks()):
        current = graph.block(current, f"_blocks.{index}.", block, side)
        side //= block.stride
    current = graph.convolution(current, "_conv_head", "_bn1", bounded=True)
    current = graph.node("GlobalAveragePool", [current])
    graph.node("Flatten", [current], name=OUTPUT)
    return graph.model()


def _blocks() -> Iterator[Stage]:
    """Each block with its own stride and number of inputs."""
    for stage in STAGES:
        yield stage._replace(repeats=1)
        for _ in range(stage.repeats - 1):
            yield stage._replace(repeats=1, stride=1, inputs=stage.outputs)


@final
class _Graph:
    """The nodes and the numbers of a graph, written down as they are added."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self._weights = weights
        self._nodes: list[bytes] = []
        self._numbers = [onnx.tensor("zero", np.float32(0)), onnx.tensor("six", np.float32(6))]

    def block(self, source: str, prefix: str, block: Stage, side: int) -> str:
        """Widen, convolve each channel with its own kernel, narrow; and add what came in where the shapes allow it."""
        current = source
        if block.expansion > 1:
            current = self.convolution(current, prefix + "_expand_conv", prefix + "_bn0", bounded=True)
        shape = {"stride": block.stride, "side": side, "groups": block.inputs * block.expansion}
        current = self.convolution(current, prefix + "_depthwise_conv", prefix + "_bn1", **shape, bounded=True)
        current = self.convolution(current, prefix + "_project_conv", prefix + "_bn2")
        same = block.stride == 1 and block.inputs == block.outputs
        return self.node("Add", [current, source]) if same else current

    def convolution(
        self,
        source: str,
        conv: str,
        norm: str,
        *,
        stride: int = 1,
        side: int = 1,
        groups: int = 1,
        bounded: bool = False,
    ) -> str:
        """A convolution with its batch normalisation; `bounded` cuts what comes out to [0, 6]."""
        parts = ("weight", "bias", "running_mean", "running_var")
        kernel, bias = folded(self._weight(f"{conv}.weight"), tuple(self._weight(f"{norm}.{part}") for part in parts))
        self._numbers += [onnx.tensor(f"{conv}.kernel", kernel), onnx.tensor(f"{conv}.bias", bias)]
        size = kernel.shape[2]
        before, after = _same_padding(side, size, stride) if size > 1 else (0, 0)
        pads, twice = [before, before, after, after], [stride, stride]
        sources = [source, f"{conv}.kernel", f"{conv}.bias"]
        current = self.node("Conv", sources, pads=pads, strides=twice, kernel_shape=[size, size], group=groups)
        return self.node("Clip", [current, "zero", "six"]) if bounded else current

    def node(self, operator: str, sources: list[str], name: str | None = None, **attributes: int | list[int]) -> str:
        result = name or f"n{len(self._nodes)}"
        self._nodes.append(onnx.node(operator, sources, result, attributes))
        return result

    def model(self) -> bytes:
        """The whole file."""
        inputs, outputs = onnx.value(INPUT, ("n", 3, SIDE, SIDE)), onnx.value(OUTPUT, ("n", N_FEATURES))
        return onnx.model("efficientnet_lite0", self._nodes, self._numbers, [inputs], [outputs])

    def _weight(self, name: str) -> np.ndarray:
        if name not in self._weights:
            raise InvalidInput(f"efficientnet_lite0: the weights must hold {name}, got a file without it.")
        return self._weights[name]


def _same_padding(side: int, size: int, stride: int) -> tuple[int, int]:
    """What keeps side / stride outputs, the odd one behind: TensorFlow's rule, which the weights were trained with."""
    total = max(0, (-(-side // stride) - 1) * stride + size - side)
    return total // 2, total - total // 2
