"""What an ONNX file says about itself, read without running it: inputs, outputs, metadata, and what it would reach for outside.

Numbers of fields are those of the format's public description (onnx.proto).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from fewsight.features.networks import protobuf as wire

FLOAT, UINT8, FLOAT16, DOUBLE = 1, 2, 10, 11  # element types that images are given in
STANDARD_DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}
DEEPEST = 30  # graphs inside graphs
_EXTERNAL = 1


@final
@dataclass(frozen=True)
class Port:
    """An input or output: its name, element type and sides; None where a side is left open. No shape at all is None."""

    name: str
    element: int
    shape: tuple[int | None, ...] | None


@final
@dataclass
class OnnxGraph:
    """What was found in a file."""

    inputs: list[Port] = field(default_factory=list)  # without those that the file gives the values of
    outputs: list[Port] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    external_files: list[str] = field(default_factory=list)  # as written in the file
    foreign_domains: list[str] = field(default_factory=list)  # of operators that are not ONNX's
    n_nodes: int = 0


def read_graph(content: bytes) -> OnnxGraph:
    """What the bytes of a file say. Raises protobuf.Damaged if they are no ONNX model."""
    found, seen = OnnxGraph(), _Seen()
    graphs = 0
    for part in wire.fields(content):
        if part.number == 7 and part.wire == wire.BYTES:
            graphs += 1
            _read_ports(part.content, found)
            _visit_graph(part.content, seen, 0)
        elif part.number == 14:
            found.metadata.update([_entry(part.content)])
        elif part.number == 25:
            _visit_function(part.content, seen)
    if graphs != 1 or not seen.n_nodes:
        raise wire.Damaged("no graph")
    found.external_files = sorted(seen.files)
    found.foreign_domains = sorted(seen.domains - seen.own_domains - STANDARD_DOMAINS)
    found.n_nodes = seen.n_nodes
    return found


@dataclass
class _Seen:
    files: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    own_domains: set[str] = field(default_factory=set)  # of functions that the file itself defines
    n_nodes: int = 0


def _read_ports(graph: memoryview, found: OnnxGraph) -> None:
    given = set()
    for part in wire.fields(graph):
        if part.number == 5:
            given |= {inner.text for inner in wire.fields(part.content) if inner.number == 8}
        elif part.number == 11:
            found.inputs.append(_port(part.content))
        elif part.number == 12:
            found.outputs.append(_port(part.content))
    found.inputs = [port for port in found.inputs if port.name not in given]


def _port(value: memoryview) -> Port:
    name, element, shape = "", 0, None
    for part in wire.fields(value):
        if part.number == 1:
            name = part.text
        elif part.number == 2:
            tensors = [inner.content for inner in wire.fields(part.content) if inner.number == 1]
            for inner in wire.fields(tensors[0]) if tensors else ():
                if inner.number == 1:
                    element = inner.signed
                elif inner.number == 2:
                    shape = tuple(_side(side.content) for side in wire.fields(inner.content) if side.number == 1)
    return Port(name, element, shape)


def _side(dimension: memoryview) -> int | None:
    sides = [part.signed for part in wire.fields(dimension) if part.number == 1]
    return sides[0] if sides and sides[0] > 0 else None


def _visit_graph(graph: memoryview, seen: _Seen, depth: int) -> None:
    if depth > DEEPEST:
        raise wire.Damaged("graphs inside graphs without end")
    for part in wire.fields(graph):
        if part.number == 1:
            _visit_node(part.content, seen, depth)
        elif part.number == 5:
            _visit_tensor(part.content, seen)
        elif part.number == 15:
            _visit_sparse(part.content, seen)


def _visit_function(function: memoryview, seen: _Seen) -> None:
    for part in wire.fields(function):
        if part.number == 7:
            _visit_node(part.content, seen, 0)
        elif part.number == 10:
            seen.own_domains.add(part.text)


def _visit_node(node: memoryview, seen: _Seen, depth: int) -> None:
    seen.n_nodes += 1
    for part in wire.fields(node):
        if part.number == 7:
            seen.domains.add(part.text)
        elif part.number == 5:
            for inner in wire.fields(part.content):
                if inner.number in (5, 10):
                    _visit_tensor(inner.content, seen)
                elif inner.number in (6, 11):
                    _visit_graph(inner.content, seen, depth + 1)
                elif inner.number in (22, 23):
                    _visit_sparse(inner.content, seen)


def _visit_sparse(tensor: memoryview, seen: _Seen) -> None:
    for part in wire.fields(tensor):
        if part.number in (1, 2):
            _visit_tensor(part.content, seen)


def _visit_tensor(tensor: memoryview, seen: _Seen) -> None:
    """Where the numbers are in another file, the name of that file."""
    entries: dict[str, str] = {}
    outside = False
    for part in wire.fields(tensor):
        if part.number == 13:
            entries.update([_entry(part.content)])
        elif part.number == 14:
            outside = part.number_value == _EXTERNAL
    if outside or entries:
        seen.files.add(entries.get("location", ""))


def _entry(pair: memoryview) -> tuple[str, str]:
    parts = {part.number: part.text for part in wire.fields(pair)}
    return parts.get(1, ""), parts.get(2, "")
