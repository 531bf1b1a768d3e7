"""ONNX files on disk: read whole, looked at before anything is run, known by a hash of all they consist of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.features.networks.onnx_graph import OnnxGraph, read_graph
from fewsight.features.networks.protobuf import Damaged
from fewsight.images.files import printable, read_bytes
from fewsight.images.hashing import hash_of

MOST_BYTES = 2**31 - 1  # of one file, which is also the format's own limit
MOST_NODES = 100_000
MOST_EXTERNAL_FILES = 1_000


@final
@dataclass(frozen=True)
class OnnxFile:
    """A file that may be run: its bytes, what it says about itself, and the hash it is known by."""

    name: str
    content: bytes
    graph: OnnxGraph
    digest: str
    path: str | None = None  # where it must be loaded from, because files beside it belong to it


def read_onnx(path: str | os.PathLike[str], who: str) -> OnnxFile:
    """An ONNX file, or an InvalidInput that begins with `who` and says why it is none or may not be run."""
    name = f"{who}: {printable(path)}"
    content = _bytes_of(path, name, "the ONNX file")
    return checked(content, name, Path(path))


def checked(content: bytes, name: str, path: Path | None = None) -> OnnxFile:
    """The bytes of an ONNX file as something that may be run; `name` is what errors begin with."""
    graph = _graph_of(content, name)
    if graph.n_nodes > MOST_NODES:
        raise InvalidInput(f"{name}: a network must have at most {MOST_NODES:,} operators, got {graph.n_nodes:,}.")
    if graph.foreign_domains:
        listed = ", ".join(graph.foreign_domains)
        raise InvalidInput(f"{name}: only ONNX's own operators are run, got some of {shown(listed)}.")
    beside = [_bytes_of(file, name, "a file of weights") for file in _files_beside(graph, path, name)]
    digest = hash_of(content, *beside)
    return OnnxFile(name, content, graph, digest, os.fspath(path) if beside and path is not None else None)


def _bytes_of(path: str | os.PathLike[str], name: str, what: str) -> bytes:
    try:
        return read_bytes(path, MOST_BYTES)
    except UnreadableImage as error:
        raise InvalidInput(f"{name}: {what} must be readable, got {Path(error.name).name}: {error.reason}.") from None


def _graph_of(content: bytes, name: str) -> OnnxGraph:
    try:
        return read_graph(content)
    except (Damaged, RecursionError) as error:
        raise InvalidInput(
            f"{name}: must be an ONNX model, got a file that is not one or is damaged ({error})."
        ) from None


def _files_beside(graph: OnnxGraph, path: Path | None, name: str) -> list[Path]:
    """The files that hold weights; none may be anywhere else than in the folder of the model, or below it."""
    if not graph.external_files:
        return []
    if path is None or len(graph.external_files) > MOST_EXTERNAL_FILES:
        raise InvalidInput(f"{name}: the weights must be in the file, or in at most {MOST_EXTERNAL_FILES:,} beside it.")
    folder = path.parent.resolve()
    for written in graph.external_files:
        if not written or "\0" in written or Path(written).is_absolute() or not _is_below(folder, folder / written):
            raise InvalidInput(
                f"{name}: files of weights must lie in the folder of the model, got {shown(written)}; export it again."
            )
    return [folder / written for written in graph.external_files]


def _is_below(folder: Path, file: Path) -> bool:
    try:
        return file.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):  # a link that leads in a circle
        return False
