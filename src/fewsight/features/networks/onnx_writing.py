"""The parts of an ONNX file as bytes: nodes, tensors, inputs and outputs, and the model they make. [onnx.proto]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fewsight.features.networks import protobuf as wire

OPSET = 13
IR_VERSION = 7
FLOAT, INT64 = 1, 7  # element types
_ELEMENTS = {"f": (FLOAT, "<f4"), "i": (INT64, "<i8")}
_INT, _INTS = 2, 7  # kinds of attributes


def model(
    name: str,
    nodes: Sequence[bytes],
    tensors: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    metadata: Mapping[str, str] | None = None,
) -> bytes:
    """A whole file."""
    parts = {1: nodes, 5: tensors, 11: inputs, 12: outputs}
    graph = b"".join(wire.content(number, each) for number, several in parts.items() for each in several)
    said = [wire.content(1, key) + wire.content(2, text) for key, text in (metadata or {}).items()]
    opset = wire.content(8, wire.content(1, "") + wire.integer(2, OPSET))
    head = wire.integer(1, IR_VERSION) + wire.content(2, "fewsight")
    return (
        head
        + wire.content(7, wire.content(2, name) + graph)
        + opset
        + b"".join(wire.content(14, each) for each in said)
    )


def node(
    operator: str,
    sources: Sequence[str],
    result: str,
    attributes: Mapping[str, int | list[int]] | None = None,
    domain: str = "",
) -> bytes:
    """An operator with its inputs and its output."""
    inputs = b"".join(wire.content(1, source) for source in sources)
    described = b"".join(wire.content(5, _attribute(*item)) for item in (attributes or {}).items())
    return inputs + wire.content(2, result) + wire.content(4, operator) + described + wire.content(7, domain)


def tensor(name: str, values: npt.ArrayLike) -> bytes:
    """Numbers that belong to the file, as floats of 32 bits or integers of 64."""
    array = np.asarray(values)
    element, form = _ELEMENTS[array.dtype.kind]
    shape = b"".join(wire.integer(1, side) for side in array.shape)
    return shape + wire.integer(2, element) + wire.content(8, name) + wire.content(9, array.astype(form).tobytes())


def value(name: str, shape: Sequence[int | str] | None, element: int = FLOAT) -> bytes:
    """An input or output; a side with a name may be of any length, and without a shape nothing is said of it."""
    kind = wire.integer(1, element)
    if shape is not None:
        sides = (wire.content(2, side) if isinstance(side, str) else wire.integer(1, side) for side in shape)
        kind += wire.content(2, b"".join(wire.content(1, side) for side in sides))
    return wire.content(1, name) + wire.content(2, wire.content(1, kind))


def _attribute(name: str, given: int | list[int]) -> bytes:
    if isinstance(given, int):
        return wire.content(1, name) + wire.integer(3, given) + wire.integer(20, _INT)
    return wire.content(1, name) + b"".join(wire.integer(8, each) for each in given) + wire.integer(20, _INTS)
