"""An image network: which input it takes and how, which output is the vector; read from the file or given."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_choice, check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Pixels, Recipe
from fewsight.features.networks.onnx_file import OnnxFile
from fewsight.features.networks.onnx_graph import DOUBLE, FLOAT, FLOAT16, UINT8, OnnxGraph, Port
from fewsight.features.networks.preparation import IMAGENET_MEAN, IMAGENET_STD, Preparation
from fewsight.features.networks.session import Session

ELEMENTS = {FLOAT: "float32", FLOAT16: "float16", DOUBLE: "float64", UINT8: "uint8"}
LAYOUTS, COLOURS, POOLINGS = ("nchw", "nhwc"), ("rgb", "bgr"), ("mean", "first")
LEAST_SIDE, MOST_SIDE = 8, 2_000
MOST_FEATURES = 65_536


@final
@dataclass(frozen=True)
class Wishes:
    """What a user says about a network; None leaves it to the file."""

    side: int | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    crop: float | None = None
    layout: str | None = None
    colours: str | None = None
    output: str | None = None
    pooling: str | None = None


@final
class ImageNetwork:
    """Pixels in, one vector out."""

    def __init__(self, file: OnnxFile, wishes: Wishes) -> None:
        self.name, self.digest = file.name, file.digest
        self.preparation = preparation_of(file, wishes)
        self.output = output_of(file, wishes)
        self._pooling = wishes.pooling
        self._session = Session(file, self.output)

    def recipe(self) -> Recipe:
        """All that decides what `vector` returns."""
        chosen = {"output": self.output, "pooling": self._pooling}
        return {"kind": "network", "network": self.digest, **chosen, "preparation": self.preparation.recipe()}

    @property
    def described(self) -> str:
        """In a few words, how images go in and what comes out."""
        how = self.preparation
        numbers = "bytes" if how.element == "uint8" else f"mean {_listed(how.mean)}, std {_listed(how.std)}"
        part = "the whole image" if how.crop is None else f"{how.crop:g} of the middle"
        return f"{part} at {how.width} x {how.height}, {how.colours.upper()}, {numbers}; output {self.output!r}"

    def vector(self, pixels: Pixels, image: str) -> npt.NDArray[np.float32]:
        """The vector of one image, (d,); `image` is what an error calls it."""
        found = self._session.run(self.preparation.tensor(pixels), image)
        vector = self._pooled(found)
        if not np.isfinite(vector).all():
            raise InvalidInput(
                f"{self.name}: the output must hold finite numbers only, got NaN or infinity for {image}."
            )
        return vector

    def _pooled(self, found: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """A map of vectors becomes their mean; of a sequence, the first is the image's unless the mean is asked for."""
        shape = found.shape
        if found.dtype.kind not in "fiu" or not 2 <= found.ndim <= 4 or shape[0] != 1 or not found.size:
            raise InvalidInput(f"{self.name}: the output must be one vector for each image, got {_sides(shape)}.")
        values = found[0].astype(np.float64)
        if values.ndim == 3:
            values = values.mean(axis=(1, 2))
        elif values.ndim == 2:
            values = values.mean(axis=0) if self._pooling == "mean" else values[0]
        check_integer(self.name, "the length of a vector", len(values), least=1, most=MOST_FEATURES)
        with np.errstate(over="ignore"):
            return values.astype(np.float32)


def preparation_of(file: OnnxFile, wishes: Wishes) -> Preparation:
    """How images are prepared: as wished, else as the file says in its shapes and metadata, else as most networks are."""
    port = _image_input(file)
    said = file.graph.metadata
    layout = wishes.layout or _layout_of(port, file.name)
    check_choice(file.name, "layout", layout, LAYOUTS)
    sides = (port.shape or (None,) * 4)[2:4] if layout == "nchw" else (port.shape or (None,) * 4)[1:3]
    height, width = (_side(file, wishes, side, which) for side, which in zip(sides, ("height", "width"), strict=True))
    colours = check_choice(file.name, "colours", wishes.colours or said.get("colours", "rgb"), COLOURS)
    return Preparation(
        height,
        width,
        mean=_triple(file.name, "mean", wishes.mean, said, IMAGENET_MEAN, least=-10.0),
        std=_triple(file.name, "std", wishes.std, said, IMAGENET_STD, least=1e-3),
        crop=_crop(file.name, wishes.crop),
        layout=layout,
        colours=colours,
        element=ELEMENTS[port.element],
    )


def output_of(file: OnnxFile, wishes: Wishes) -> str:
    """The name of the output that is the vector: as wished, or the first with a row for each image, or the first."""
    outputs = file.graph.outputs
    if not outputs:
        raise InvalidInput(f"{file.name}: the network must have an output, got none.")
    if wishes.pooling is not None:
        check_choice(file.name, "pooling", wishes.pooling, POOLINGS)
    if wishes.output is not None:
        return check_choice(file.name, "output", wishes.output, [port.name for port in outputs])
    rows = [port for port in outputs if port.shape is not None and len(port.shape) == 2]
    chosen = (rows or outputs)[0]
    if chosen.shape is not None and not 2 <= len(chosen.shape) <= 4:
        raise InvalidInput(f"{file.name}: the output must be one vector for each image, got {_sides(chosen.shape)}.")
    _check_length(file.name, chosen)
    return chosen.name


def _check_length(name: str, port: Port) -> None:
    shape = port.shape or ()
    length = {2: shape[-1:], 3: shape[-1:], 4: shape[1:2]}.get(len(shape), (None,))[0]
    if length is not None:
        check_integer(name, "the length of a vector", length, least=1, most=MOST_FEATURES)


def _image_input(file: OnnxFile) -> Port:
    """The one input, if it can take one colour image."""
    graph: OnnxGraph = file.graph
    if len(graph.inputs) != 1:
        names = ", ".join(shown(port.name) for port in graph.inputs) or "none"
        raise InvalidInput(
            f"{file.name}: the network must have one input, an image, got {names}; export the image part alone."
        )
    (port,) = graph.inputs
    if port.element not in ELEMENTS or (port.shape is not None and len(port.shape) != 4):
        got = "another kind of number" if port.element not in ELEMENTS else _sides(port.shape or ())
        raise InvalidInput(f"{file.name}: the input must be images, (n, 3, h, w) or (n, h, w, 3), got {got}.")
    if port.shape is not None and port.shape[0] not in (None, 1):
        raise InvalidInput(
            f"{file.name}: the network must take any number of images, or one, at a time, got {port.shape[0]}."
        )
    return port


def _layout_of(port: Port, name: str) -> str:
    shape = port.shape or (None,) * 4
    if shape[1] == 3 or (shape[1] is None and shape[3] not in (1, 3)):
        return "nchw"
    if shape[3] == 3:
        return "nhwc"
    raise InvalidInput(f"{name}: the input must have three colour channels, got {_sides(shape)}.")


def _side(file: OnnxFile, wishes: Wishes, fixed: int | None, which: str) -> int:
    """A side of the input in pixels: fixed by the file; otherwise as wished or as the metadata says."""
    if fixed is not None and wishes.side not in (None, fixed):
        raise InvalidInput(
            f"{file.name}: side must be {fixed}, which is what the network takes, got {shown(wishes.side)}."
        )
    said = _number(file.graph.metadata.get("side"))
    value = fixed or wishes.side or said
    if value is None:
        raise InvalidInput(f"{file.name}: the network takes images of any {which}; set side, 224 for example.")
    return check_integer(file.name, "side", value, least=LEAST_SIDE, most=MOST_SIDE)


def _triple(
    name: str,
    what: str,
    wished: float | tuple[float, ...] | None,
    said: Mapping[str, str],
    usual: tuple[float, ...],
    *,
    least: float,
) -> tuple[float, ...]:
    """Three numbers, for red, green and blue in [0, 1]: as wished, as the metadata says, or the usual ones."""
    value = wished if wished is not None else _list(said.get(what)) or usual
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,) * 3
    valid = all(
        isinstance(number, (int, float)) and math.isfinite(number) and least <= number <= 10 for number in numbers
    )
    if len(numbers) != 3 or not valid:
        raise InvalidInput(f"{name}: {what} must be three numbers for pixels in [0, 1], got {shown(value)}.")
    return tuple(float(number) for number in numbers)


def _crop(name: str, crop: float | None) -> float | None:
    if crop is not None and not (isinstance(crop, (int, float)) and 0.1 <= crop <= 1):
        raise InvalidInput(
            f"{name}: crop must be a share from 0.1 to 1, or None for the whole image, got {shown(crop)}."
        )
    return None if crop is None else float(crop)


def _list(text: str | None) -> list[float] | None:
    """A list as metadata has it: `[0.5, 0.5, 0.5]` or `0.5, 0.5, 0.5`."""
    try:
        found = json.loads(f"[{(text or '').strip().strip('[]()')}]")
    except (ValueError, RecursionError):
        return None
    return found or None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdecimal() and len(text) < 10 else None


def _sides(shape: tuple[Any, ...]) -> str:
    return "the shape (" + ", ".join("any" if side is None else str(side) for side in shape) + ")"


def _listed(numbers: tuple[float, ...]) -> str:
    return " ".join(f"{number:.3g}" for number in numbers)
